"""Most memory is used only during the first run

What it checks
    Less than half of the planned peak, or less than 16 MiB, is reserved by allocate_tensors() and first
    touched by invoke().

Why it matters
    On a machine that is too small, loading and allocating succeed, and the process dies in the first
    run: the system provides memory on first write, not on allocation.

What to do
    Do not rely on a successful allocate_tensors(). Compare the plan with the available memory, or run
    the model once under a limit.

Limits
    When memory is touched depends on the system. The rule describes Linux.
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
        value=f"{format_bytes(late)} of {format_bytes(stages[-1].bytes)}",
        why="a successful allocate_tensors() does not prove that the model fits",
        remedies=(
            Remedy(
                "run the model once under a limit",
                Tag.SAME_RESULTS,
                command=run_command(plan, "--memory", _limit(stages[-1].bytes)),
            ),
        ),
        confidence="certain" if plan.exact else "likely; the plan is an estimate",
        fault=Fault.MACHINE,
    )


def _limit(size: int) -> str:
    """A tenth more than planned, in whole megabytes."""
    return f"{-(-size * 11 // 10_000_000)}MB"
