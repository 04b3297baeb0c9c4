"""the memory limit of the run is less than the model needs for certain

What it checks
    The limit (memory=, --memory) against the part of the plan that is certain: the arena where it is computed
    by the runtime's own rules, or else the bytes alive at one operator, which no planner can do without.

Why it matters
    The run would end at the limit: nothing was started.

What to do
    Raise the limit, or use a smaller input or batch. To see it happen all the same: --force (force=True).

Limits
    A limit above the certain part may still be too small: then the run ends at the limit, and says so.
"""

from outlive.arena.budget import Verdict, certain_bytes
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.memory_verdict import SET_LIMIT, needed_words
from outlive.rules.plan_facts import facts, place, run_command, ways
from outlive.units import format_bytes


@rule("M205", "limit-below-plan", Severity.ERROR, since="0.1", cause="out-of-memory")
def limit_below_plan(verdict: Verdict) -> Sightings:
    plan, limit = verdict.plan, verdict.budget.ram_bytes
    certain = certain_bytes(plan)
    if verdict.budget.kind != "limit" or certain <= limit:
        return
    enough = -(-max(certain, plan.peak_bytes or 0) * 11 // 10_000_000)
    known = {**facts(plan), "needed_bytes": certain, "bound": "lower"}
    yield Sighting(
        headline=f"the model needs at least {format_bytes(certain)}, and its limit is {format_bytes(limit)}",
        where=place(plan),
        evidence=(
            Evidence(f"needed: {needed_words(known)}", f"plan, {plan.accelerator}"),
            Evidence(f"had: {format_bytes(limit)}, {SET_LIMIT}", "limits"),
        ),
        why="the run would end at its limit, so it was not started",
        remedies=(
            Remedy(
                "raise the limit, if the machine has the memory",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", f"{enough}MB"),
            ),
            *ways(verdict),
            Remedy(
                "run it all the same, to see it end",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", f"{limit}B", "--force"),
            ),
        ),
        fault=Fault.MACHINE,
    )
