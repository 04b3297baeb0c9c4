"""the accelerator that was asked for is not here

What it checks
    Whether an accelerator that was named with accelerator= has what it needs on this machine.

Why it matters
    The model was not run. To run it elsewhere without a word would hide that.

What to do
    Install what is missing, or leave the choice to outlive: accelerator="auto".

Limits
    What is looked for is what this version of the runtime looks for.
"""

from outlive.interpreter.compiled_accelerators import MissingAccelerator
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule


@rule("A810", "accelerator-not-here", Severity.ERROR, since="0.1", cause="missing-runtime")
def accelerator_not_here(accelerator: MissingAccelerator) -> Sightings:
    yield Sighting(
        where=f"accelerator {accelerator.name}",
        evidence=(Evidence(accelerator.missing, "this machine"),),
        why="it was asked for by name, so nothing else was tried",
        remedies=(
            Remedy("install what is missing", Tag.SAME_RESULTS, command=accelerator.install),
            Remedy(
                "leave the choice to outlive",
                Tag.CHANGES_RESULTS,
                command="outlive run FILE --accelerator auto",
            ),
        ),
        fault=Fault.MACHINE,
    )
