"""the model's process was killed for using too much memory

What it checks
    Whether the process ended by SIGKILL while the count of out-of-memory kills of its cgroup, or of the
    machine, rose.

Why it matters
    The system ends the process that it thinks can best be spared. Workers of outlive volunteer for it,
    so that your program is not taken instead.

What to do
    Run the model with a smaller input or batch, or on a machine with more memory. With a limit of its own
    (memory=) it is refused in words before the machine runs out.

Limits
    The count is shared with everything else in the cgroup: another process killed at the same moment
    would look the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.witness import cause, is_kernel, limited_command, memory, place, status, subject
from outlive.worker.flight import Flight


@rule("D501", "killed-for-memory", Severity.ERROR, since="0.1")
def killed_for_memory(flight: Flight) -> Iterator[Sighting]:
    """See the module."""
    if cause(flight) != "killed-for-memory" or flight.oom_kills is None:
        return
    before, after = flight.oom_kills
    rise = Evidence(fact=f"out-of-memory kills rose from {before} to {after}", source="kernel counters")
    yield Sighting(
        headline=f"{subject(flight)} was killed for using too much memory",
        where=place(flight),
        evidence=(status(flight), rise, *memory(flight)),
        why="the machine or its container had no memory left, and the system chose this process",
        remedies=(
            Remedy(action="use a smaller input or batch", tag=Tag.CHANGES_RESULTS),
            Remedy(
                action="see how much memory this machine and container have",
                tag=Tag.SAME_RESULTS,
                command="outlive doctor",
            ),
            *_limit(flight),
        ),
        fault=Fault.MACHINE,
    )


def _limit(flight: Flight) -> tuple[Remedy, ...]:
    """A limit of its own; a kernel has none."""
    action = "give it a limit below that, to be told in words instead"
    given = Remedy(action=action, tag=Tag.SAME_RESULTS, command=limited_command(flight, "1GB"))
    return () if is_kernel(flight) else (given,)
