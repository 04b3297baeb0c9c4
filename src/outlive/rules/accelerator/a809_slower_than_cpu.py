"""an accelerator is slower than the CPU

What it checks
    Whether a run on an accelerator took longer than with XNNPACK, by a quarter at least.

Why it matters
    The accelerator costs memory and start-up time, and gives nothing back.

What to do
    Run the model on the CPU; or let it take more of the graph, so that less is handed over.

Limits
    A few runs were timed, on a machine that may have been busy. Software in disguise is not judged.
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
                Evidence(f"{one.milliseconds:,.2f} ms a run", one.name),
                Evidence(f"{cpu.milliseconds:,.2f} ms a run", "xnnpack"),
            ),
            why="it takes longer than the CPU, and memory of its own",
            remedies=others_that_run(coverage, one),
            confidence="likely: a few runs were timed",
            fault=Fault.MACHINE,
        )
