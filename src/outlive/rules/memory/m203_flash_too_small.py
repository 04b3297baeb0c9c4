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

from outlive.arena.budget import Verdict
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.wording import file_name
from outlive.units import format_bytes


@rule("M203", "flash-too-small", Severity.ERROR, since="0.1")
def flash_too_small(verdict: Verdict) -> Sightings:
    plan, budget = verdict.plan, verdict.budget
    if budget.flash_bytes is None or plan.file_bytes <= budget.flash_bytes:
        return
    yield Sighting(
        where=file_name(plan.path),
        evidence=(
            Evidence(f"the file has {plan.file_bytes:,} bytes", "file"),
            Evidence(f"{budget.title} has {format_bytes(budget.flash_bytes)} of flash", budget.source),
        ),
        why=f"{format_bytes(plan.file_bytes - budget.flash_bytes)} too much, before any program is there",
        remedies=(
            Remedy(
                "quantize the weights to 8-bit integers",
                Tag.CHANGES_RESULTS,
                effect="a float model shrinks to about a quarter",
            ),
        ),
        fault=Fault.MACHINE,
    )
