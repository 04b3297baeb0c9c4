"""the model fits with little room to spare

What it checks
    Whether less than a tenth of the memory is left beside the planned peak, the mapped file does not fit
    beside it, an arena is larger than any one bank of memory, or less happens to be free now than is needed.

Why it matters
    The program around the model wants memory too: stacks, buffers, pictures. A file whose pages are dropped
    is read again from storage in every run.

What to do
    Measure on the device, or take one of the ways that leave more room.

Limits
    How much the rest of your program needs is not known here.
"""

from outlive.arena.budget import Verdict
from outlive.rules.api import Fault, Severity, Sighting, Sightings, rule
from outlive.rules.plan_facts import amounts, memory_there, place, ways


@rule("M202", "tight-fit", Severity.WARNING, since="0.1")
def tight_fit(verdict: Verdict) -> Sightings:
    if verdict.word != "tight" or verdict.needed_bytes is None:
        return
    yield Sighting(
        where=place(verdict.plan),
        evidence=(*amounts(verdict.plan, verdict.needed_bytes), memory_there(verdict.budget)),
        why="; ".join(verdict.reasons),
        remedies=tuple(ways(verdict)),
        confidence="certain" if verdict.plan.exact else "likely: the plan is an estimate",
        fault=Fault.MACHINE,
    )
