"""most of the memory is taken only when the model runs

What it checks
    Whether at least half of the planned peak, and 16 MiB, are reserved when tensors are allocated and touched
    only by the first invoke.

Why it matters
    Loading and allocating succeed on a machine that is too small, and the process dies later, in the first
    run: the system hands out memory when it is written to, not when it is asked for.

What to do
    Do not take a successful allocate_tensors for a proof. Hold the plan against the memory there is, or run
    the model once, with a limit, before it matters.

Limits
    How much is touched, and when, is a matter of the system: this is what Linux does.
"""

from outlive.arena.plan import Plan, predict_stages
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.plan_facts import run_command
from outlive.rules.wording import file_name
from outlive.units import format_bytes

_LEAST_BYTES = 16 << 20


@rule("M204", "late-memory", Severity.NOTE, since="0.1")
def late_memory(plan: Plan) -> Sightings:
    stages = predict_stages(plan)
    if not stages:
        return
    late = stages[-1].bytes - stages[-2].bytes
    if late < _LEAST_BYTES or 2 * late < stages[-1].bytes:
        return
    yield Sighting(
        where=file_name(plan.path),
        evidence=tuple(
            Evidence(f"after {stage.name}: {format_bytes(stage.bytes)}", "plan") for stage in stages
        ),
        why=f"{format_bytes(late)} come with the first invoke: that it could be allocated proves nothing",
        remedies=(
            Remedy(
                "run it once, with a limit, before it matters",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", _limit(stages[-1].bytes)),
            ),
        ),
        confidence="certain" if plan.exact else "likely: the plan is an estimate",
        fault=Fault.MACHINE,
    )


def _limit(size: int) -> str:
    """A tenth more than planned, in whole megabytes."""
    return f"{-(-size * 11 // 10_000_000)}MB"
