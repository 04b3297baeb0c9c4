"""The model file does not fit in flash

What it checks
    The file is not larger than the flash memory of the microcontroller.

Why it matters
    A microcontroller reads weights in place, from flash.

What to do
    Make the file smaller, or use external flash that is mapped into memory.

Limits
    The program also needs flash. outlive does not know how much.
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
            Evidence(
                f"{format_bytes(plan.file_bytes)}, {budget.title} has {format_bytes(budget.flash_bytes)}",
                "file",
            ),
            Evidence(f"{budget.title} has {format_bytes(budget.flash_bytes)} of flash", budget.source),
        ),
        why=f"{format_bytes(plan.file_bytes - budget.flash_bytes)} too much, without the program itself",
        remedies=(
            Remedy(
                "quantize the weights to 8-bit integers",
                Tag.CHANGES_RESULTS,
                effect="to about a quarter of a float model",
            ),
        ),
        fault=Fault.MACHINE,
    )
