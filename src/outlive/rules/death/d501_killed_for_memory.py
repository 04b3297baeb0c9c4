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

from outlive.process.flight import Flight
from outlive.rules import memory_verdict as shortage
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_kernel, limited_command, place, subject

# It may have this share of the memory; the rest is for the caller and the system.
_SHARE = 0.7


@rule("D501", "killed-for-memory", Severity.ERROR, since="0.1")
def killed_for_memory(flight: Flight) -> Sightings:
    if cause(flight) != "killed-for-memory":
        return
    see = Remedy(
        "see how much memory this machine and container have", Tag.SAME_RESULTS, command="outlive doctor"
    )
    yield Sighting(
        headline=shortage.headline(flight, f"{subject(flight)} was killed for using too much memory"),
        where=place(flight),
        evidence=shortage.evidence(flight),
        why="the machine or its container had no memory left, and the system chose this process",
        remedies=(*shortage.remedies(flight), see, *_limit(flight)),
        fault=Fault.MACHINE,
    )


def _limit(flight: Flight) -> tuple[Remedy, ...]:
    """A limit of its own, below the memory there is; a kernel has none."""
    room = shortage.had(flight)
    if is_kernel(flight) or room is None:
        return ()
    action = "give it a limit below that, to be told in words instead"
    size = f"{max(1, int(room.bytes * _SHARE / 1e6))}MB"
    return (Remedy(action, Tag.SAME_RESULTS, command=limited_command(flight, size)),)
