"""The accelerator's results differ from the CPU's

What it checks
    Outputs match those of LiteRT's reference kernels on the same inputs within the usual tolerance, or
    other CPU kernels agree with the accelerator.

Why it matters
    The model runs with wrong results, and no error shows it.

What to do
    Request single precision if that is the cause, or run the model elsewhere.

Limits
    The rule uses one set of random inputs. The tolerance is a share of the largest output: 0.1 % for
    float32, 5 % for half precision and quantized values.
"""

from outlive.accelerators import Accelerator, Coverage
from outlive.rules.accelerator.coverage_wording import culprit, others_that_run, place
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import command


@rule("A802", "accelerator-differs", Severity.ERROR, since="0.1")
def accelerator_differs(coverage: Coverage) -> Sightings:
    for one in coverage.accelerators:
        difference = one.difference
        if one.outcome != "differs" or difference is None:
            continue
        facts = [
            Evidence(
                f'output "{difference.output}" differs by up to {difference.largest:.3g}, '
                f"{difference.mean:.3g} on average",
                f"{difference.against} kernels",
            ),
            Evidence(f"tolerance {difference.allowed:.3g}", "arithmetic"),
        ]
        found, operator = culprit(one)
        yield Sighting(
            where=place(coverage, one),
            evidence=(*facts, *found),
            op=operator,
            why="no CPU kernels agree with the accelerator on the same inputs",
            remedies=(*_precise(coverage, one), *others_that_run(coverage, one)),
            confidence="likely; tested with one set of inputs",
            fault=Fault.RUNTIME,
        )


def _precise(coverage: Coverage, one: Accelerator) -> tuple[Remedy, ...]:
    if one.name != "gpu":
        return ()
    return (
        Remedy(
            "test single precision (GpuOptions(enforce_f32=True))",
            Tag.CHANGES_RESULTS,
            command=command("outlive delegates", coverage.path, "--only", "gpu-float32"),
        ),
    )
