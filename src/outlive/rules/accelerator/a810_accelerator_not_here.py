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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.interpreter.compiled_accelerators import Absent
from outlive.rules.engine import rule


@rule("A810", "accelerator-not-here", Severity.ERROR, since="0.1", cause="missing-runtime")
def accelerator_not_here(accelerator: Absent) -> Iterator[Sighting]:
    """See the module."""
    yield Sighting(
        where=f"accelerator {accelerator.name}",
        evidence=(Evidence(fact=accelerator.missing, source="this machine"),),
        why="it was asked for by name, so nothing else was tried",
        remedies=(
            Remedy(action="install what is missing", tag=Tag.SAME_RESULTS, command=accelerator.install),
            Remedy(
                action="leave the choice to outlive",
                tag=Tag.CHANGES_RESULTS,
                command="outlive run FILE --accelerator auto",
            ),
        ),
        fault=Fault.MACHINE,
    )
