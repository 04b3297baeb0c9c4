"""The accelerator is slower than the CPU

What it checks
    A run on the accelerator is not more than 25 % slower than with XNNPACK.

Why it matters
    The accelerator costs memory and start-up time without a benefit.

What to do
    Run the model on the CPU, or let the accelerator take more of the graph.

Limits
    The rule times a few runs, on a machine that may have been busy. Software renderers are exempt.
"""

from outlive.accelerators import Coverage
from outlive.rules.accelerator.coverage_wording import others_that_run, place
from outlive.rules.api import Evidence, Fault, Severity, Sighting, Sightings, rule

_NOTABLY = 1.25
_KERNELS = ("reference", "builtin")


@rule("A809", "slower-than-cpu", Severity.NOTE, since="0.1")
def slower_than_cpu(coverage: Coverage) -> Sightings:
    named = {one.name: one for one in coverage.accelerators}
    cpu = named.get("xnnpack")
    if cpu is None or cpu.milliseconds is None:
        return
    for one in coverage.accelerators:
        if one.name in _KERNELS or one.is_software or one.outcome != "runs" or one.milliseconds is None:
            continue
        if one.milliseconds <= _NOTABLY * cpu.milliseconds:
            continue
        yield Sighting(
            where=place(coverage, one),
            evidence=(
                Evidence(f"{one.milliseconds:,.2f} ms per run, XNNPACK {cpu.milliseconds:,.2f} ms", one.name),
                Evidence(f"{cpu.milliseconds:,.2f} ms per run", "xnnpack"),
            ),
            why="the accelerator also needs its own memory",
            remedies=others_that_run(coverage, one),
            confidence="likely; measured over a few runs",
            fault=Fault.MACHINE,
        )
