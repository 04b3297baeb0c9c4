"""the model file is larger than the flash of the device

What it checks
    The bytes of the file against the flash memory of a microcontroller.

Why it matters
    On a microcontroller the weights are read in place, from flash: what is not there cannot be run.

What to do
    Make the file smaller, or keep the model in external flash that is mapped into memory, if there is any.

Limits
    The program itself takes flash as well; how much is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.arena.budget import Verdict
from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.telling import file_name
from outlive.units import format_bytes


@rule("M203", "flash-too-small", Severity.ERROR, since="0.1")
def flash_too_small(verdict: Verdict) -> Iterator[Sighting]:
    """See the module."""
    plan, budget = verdict.plan, verdict.budget
    if budget.flash_bytes is None or plan.file_bytes <= budget.flash_bytes:
        return
    yield Sighting(
        where=file_name(plan.path),
        evidence=(
            Evidence(fact=f"the file has {plan.file_bytes:,} bytes", source="file"),
            Evidence(
                fact=f"{budget.title} has {format_bytes(budget.flash_bytes)} of flash", source=budget.source
            ),
        ),
        why=f"{format_bytes(plan.file_bytes - budget.flash_bytes)} too much, before any program is there",
        remedies=(
            Remedy(
                action="quantize the weights to 8-bit integers",
                effect="a float model shrinks to about a quarter",
                tag=Tag.CHANGES_RESULTS,
            ),
        ),
        fault=Fault.MACHINE,
    )
