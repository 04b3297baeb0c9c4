"""The model may not fit in memory

What it checks
    The plan can guarantee that the peak stays within the memory. It cannot if sizes are known only at
    run time ("at least"), or if the margin is smaller than the plan's uncertainty (3 % and 200 kB; a
    factor of two for an estimate).

Why it matters
    The peak may be higher than planned, and the system may kill or refuse the model.

What to do
    Run the model under the same limit with the largest inputs. A run within the limit proves that the
    model fits.

Limits
    Sizes that depend on input values may be larger with other inputs.
"""

from outlive.arena.budget import Verdict
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.plan_facts import amounts, memory_there, need_and_memory, place, run_command, ways
from outlive.units import exact_size

_SHOWN = 3


@rule("M206", "may-not-fit", Severity.WARNING, since="0.2")
def may_not_fit(verdict: Verdict) -> Sightings:
    if verdict.word != "may not fit" or verdict.needed_bytes is None or verdict.budget.kind == "limit":
        return
    plan, budget = verdict.plan, verdict.budget
    unknown = plan.unknown[:_SHOWN] if plan.bound == "lower" else ()
    tried = Remedy(
        "run the model under the same limit with your largest inputs",
        Tag.SAME_RESULTS,
        command=run_command(plan, "--memory", exact_size(budget.ram_bytes)),
    )
    yield Sighting(
        value=need_and_memory(verdict),
        where=place(plan),
        evidence=(
            *amounts(plan, verdict.needed_bytes),
            memory_there(verdict.budget),
            *(Evidence(f"unknown: {item}", "plan") for item in unknown),
        ),
        why="; ".join(verdict.reasons),
        remedies=(tried, *ways(verdict)) if plan.accelerator != "tflm" else tuple(ways(verdict)),
        fault=Fault.MACHINE,
    )
