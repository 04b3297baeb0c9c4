"""The requested accelerator is not available

What it checks
    The accelerator that you named with accelerator= has its library, driver and device on this machine.

Why it matters
    outlive did not run the model: a silent fallback would hide the problem.

What to do
    Install the missing part, or let outlive choose: accelerator="auto".

Limits
    The rule looks for the parts that this version of the runtime looks for.
"""

from outlive.interpreter.ladder import MissingAccelerator
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("A810", "accelerator-not-here", Severity.ERROR, since="0.1", cause="missing-runtime")
def accelerator_not_here(accelerator: MissingAccelerator) -> Sightings:
    yield Sighting(
        where=f"accelerator {accelerator.name}",
        evidence=(Evidence(accelerator.missing, "this machine"),),
        why="you named the accelerator, and outlive does not fall back silently",
        remedies=(
            Remedy("install the missing part", Tag.SAME_RESULTS, command=accelerator.install),
            Remedy(
                "let outlive choose the accelerator",
                Tag.CHANGES_RESULTS,
                command="outlive run FILE --accelerator auto",
            ),
        ),
        fault=Fault.MACHINE,
    )
