"""Does not fit

What it checks
    The planned peak of private memory fits the RAM that you granted (--ram), that the device has
    (--device) or that this process may use (--here). On microcontrollers, the smallest working arena,
    with its margin, fits one memory bank.

Why it matters
    The system kills the model, or refuses it in allocate_tensors(), at the operator named in the
    finding.

What to do
    Use one of the planned settings that fit. Otherwise save at the largest tensors of the worst
    operator: a smaller input, fewer channels, 8-bit values.

Limits
    The memory of the operating system and other programs counts only if a document of the device states
    it.
"""

from outlive.arena.budget import ONE_BLOCK, Verdict
from outlive.rules.api import Fault, Severity, Sighting, Sightings, rule
from outlive.rules.plan_facts import amounts, memory_there, need_and_memory, place, ways, worst
from outlive.units import format_bytes


@rule("M201", "plan-does-not-fit", Severity.ERROR, since="0.1", cause="out-of-memory")
def plan_does_not_fit(verdict: Verdict) -> Sightings:
    needed, budget = verdict.needed_bytes, verdict.budget
    blocked = [reason for reason in verdict.reasons if reason.startswith(ONE_BLOCK)]
    if needed is None or (needed <= budget.ram_bytes and not blocked) or budget.kind == "limit":
        return
    over = needed - budget.ram_bytes
    times = f"{needed / budget.ram_bytes:.2g} times the memory"
    yield Sighting(
        value=need_and_memory(verdict),
        where=place(verdict.plan),
        evidence=(*amounts(verdict.plan, needed), memory_there(verdict.budget), *worst(verdict.plan)),
        why="; ".join(blocked) if blocked else f"{format_bytes(over, budget.ram_bytes)} too much, {times}",
        remedies=tuple(ways(verdict)),
        confidence="certain" if verdict.plan.exact else "likely; the plan is an estimate",
        fault=Fault.MACHINE,
    )
