"""the model needs more memory than there is

What it checks
    The planned peak of private memory against the RAM that was granted (--ram), that a device has (--device)
    or that this process may use (--here); on microcontrollers the smallest arena that allocates, which has
    to go into one bank of memory as well, with its margin.

Why it matters
    The model would be killed, or refused when tensors are allocated: at the worst moment named here.

What to do
    Take one of the ways that were planned and fit. Otherwise the largest tensors at the worst moment are
    where to save: a smaller input, fewer channels there, 8-bit values.

Limits
    What a system and other programs take of a device's RAM is not counted unless a document says how much.
"""

from outlive.arena.budget import ONE_BLOCK, Verdict
from outlive.rules.api import Fault, Severity, Sighting, Sightings, rule
from outlive.rules.plan_facts import amounts, memory_there, place, ways, worst
from outlive.units import format_bytes


@rule("M201", "plan-does-not-fit", Severity.ERROR, since="0.1", cause="out-of-memory")
def plan_does_not_fit(verdict: Verdict) -> Sightings:
    needed, budget = verdict.needed_bytes, verdict.budget
    blocked = [reason for reason in verdict.reasons if reason.startswith(ONE_BLOCK)]
    if needed is None or (needed <= budget.ram_bytes and not blocked) or budget.kind == "limit":
        return
    over = needed - budget.ram_bytes
    times = f"{needed / budget.ram_bytes:.2g} times as much"
    yield Sighting(
        where=place(verdict.plan),
        evidence=(*amounts(verdict.plan, needed), memory_there(verdict.budget), *worst(verdict.plan)),
        why="; ".join(blocked) if blocked else f"{format_bytes(over)} more than there are, {times}",
        remedies=tuple(ways(verdict)),
        confidence="certain" if verdict.plan.exact else "likely: the plan is an estimate",
        fault=Fault.MACHINE,
    )
