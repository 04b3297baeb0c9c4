"""it is not known whether the model fits

What it checks
    Whether the planned peak is within the memory there is, but the plan cannot promise that it stays there:
    memory whose size is known only when the model runs comes on top ("at least"), or less is left than the
    plan may be off by (3 %, and 200 kB; twice the memory where it is an estimate).

Why it matters
    A plan that may be too low proves nothing: the model would be killed, or refused, in the run that matters.

What to do
    Run it under the same limit, with inputs as large as they get: what has run within a limit once fits it.

Limits
    Sizes that hang on the values of inputs can be larger with other inputs.
"""

from outlive.arena.budget import Verdict
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.plan_facts import amounts, memory_there, place, run_command, ways

_SHOWN = 3


@rule("M206", "may-not-fit", Severity.WARNING, since="0.2")
def may_not_fit(verdict: Verdict) -> Sightings:
    if verdict.word != "may not fit" or verdict.needed_bytes is None or verdict.budget.kind == "limit":
        return
    plan, budget = verdict.plan, verdict.budget
    unknown = plan.unknown[:_SHOWN] if plan.bound == "lower" else ()
    tried = Remedy(
        "run it under the same limit, with your largest inputs",
        Tag.SAME_RESULTS,
        command=run_command(plan, "--memory", f"{budget.ram_bytes}B"),
    )
    yield Sighting(
        where=place(plan),
        evidence=(
            *amounts(plan, verdict.needed_bytes),
            memory_there(verdict.budget),
            *(Evidence(f"not known: {item}", "plan") for item in unknown),
        ),
        why="; ".join(verdict.reasons),
        remedies=(tried, *ways(verdict)) if plan.accelerator != "tflm" else tuple(ways(verdict)),
        fault=Fault.MACHINE,
    )
