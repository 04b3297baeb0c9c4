"""The memory limit is below the model's minimum

What it checks
    The limit (memory=, --memory) is at least the certain part of the plan: the arena if it is computed
    by the runtime's own rules, otherwise the bytes alive at one operator.

Why it matters
    The run would reach the limit. outlive did not start it.

What to do
    Raise the limit, or use a smaller input or batch. To run it anyway, use --force (force=True).

Limits
    A limit above the certain part may still be too low. The run then ends at the limit, and reports it.
"""

from outlive.arena.budget import Verdict, certain_bytes
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.memory_verdict import SET_LIMIT, needed_words
from outlive.rules.plan_facts import facts, place, run_command, ways
from outlive.units import exact_size, format_bytes


@rule("M205", "limit-below-plan", Severity.ERROR, since="0.1", cause="out-of-memory")
def limit_below_plan(verdict: Verdict) -> Sightings:
    plan, limit = verdict.plan, verdict.budget.ram_bytes
    certain = certain_bytes(plan)
    if verdict.budget.kind != "limit" or certain <= limit:
        return
    enough = -(-max(certain, plan.peak_bytes or 0) * 11 // 10_000_000)
    known = {**facts(plan), "needed_bytes": certain, "bound": "lower"}
    yield Sighting(
        value=f"needs at least {format_bytes(certain, limit)}, the limit is {format_bytes(limit, limit)}",
        where=place(plan),
        evidence=(
            Evidence(f"needed: {needed_words(known)}", f"plan, {plan.accelerator}"),
            Evidence(f"available: {format_bytes(limit, limit)}, {SET_LIMIT}", "limits"),
        ),
        why="outlive did not start the run, because it would end at its limit",
        remedies=(
            Remedy(
                "raise the limit, if the machine has the memory",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", f"{enough}MB"),
            ),
            *ways(verdict),
            Remedy(
                "run it anyway",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", exact_size(limit), "--force"),
            ),
        ),
        fault=Fault.MACHINE,
    )
