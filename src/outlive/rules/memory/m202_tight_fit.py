"""The model barely fits in memory

What it checks
    At least a tenth of the memory is left next to the planned peak, the mapped file fits next to it,
    the arena fits one memory bank, and enough memory is free now.

Why it matters
    Your program needs memory too: stacks, buffers, images. If the system drops pages of the mapped
    file, it reads them from storage again in every run.

What to do
    Measure on the device, or use one of the settings that need less memory.

Limits
    outlive does not know how much memory the rest of your program needs.
"""

from outlive.arena.budget import Verdict
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.plan_facts import amounts, memory_there, need_and_memory, place, ways
from outlive.rules.wording import command


@rule("M202", "tight-fit", Severity.WARNING, since="0.1")
def tight_fit(verdict: Verdict) -> Sightings:
    if verdict.word != "tight" or verdict.needed_bytes is None:
        return
    yield Sighting(
        value=need_and_memory(verdict),
        where=place(verdict.plan),
        evidence=(*amounts(verdict.plan, verdict.needed_bytes), memory_there(verdict.budget)),
        why="; ".join(verdict.reasons),
        remedies=(
            *ways(verdict),
            Remedy(
                "measure the peak",
                Tag.SAME_RESULTS,
                command=command("outlive plan", verdict.plan.path, "--measure"),
            ),
        ),
        confidence="certain" if verdict.plan.exact else "likely; the plan is an estimate",
        fault=Fault.MACHINE,
    )
