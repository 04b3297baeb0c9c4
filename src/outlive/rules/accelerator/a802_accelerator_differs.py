"""an accelerator computes something else than the CPU

What it checks
    Whether outputs differ from those of LiteRT's reference kernels, on the same inputs, by more than kernels
    of that kind usually do; and whether no other kernels of the CPU agree with the accelerator.

Why it matters
    The model runs and its results are wrong, which goes unnoticed until they matter.

What to do
    Ask for single precision where that is the cause, or run the model elsewhere.

Limits
    One set of random inputs was tried. What is normal is a share of the largest output: 0.1 % for float32,
    5 % where half precision or quantized values are computed with.
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
                f'output "{difference.output}" differs by {difference.largest:.3g} at most, '
                f"{difference.mean:.3g} in the mean",
                f"{difference.against} kernels",
            ),
            Evidence(f"{difference.allowed:.3g} would be normal", "arithmetic"),
        ]
        found, operator = culprit(one)
        yield Sighting(
            where=place(coverage, one),
            evidence=(*facts, *found),
            op=operator,
            why="the same inputs give other outputs, and no other kernels of the CPU give them too",
            remedies=(*_precise(coverage, one), *others_that_run(coverage, one)),
            confidence="likely: seen with one set of inputs",
            fault=Fault.RUNTIME,
        )


def _precise(coverage: Coverage, one: Accelerator) -> tuple[Remedy, ...]:
    if one.name != "gpu":
        return ()
    return (
        Remedy(
            "see whether single precision helps (GpuOptions(enforce_f32=True))",
            Tag.CHANGES_RESULTS,
            command=command("outlive delegates", coverage.path, "--only", "gpu-float32"),
        ),
    )
