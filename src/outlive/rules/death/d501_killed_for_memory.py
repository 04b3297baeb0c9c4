"""Out of memory, process killed

What it checks
    The process did not end by SIGKILL while the out-of-memory kill counter of its cgroup or machine
    increased.

Why it matters
    When memory runs out, the system kills the process that it considers least important. outlive marks
    its workers for this, which protects your program.

What to do
    Run the model with a smaller input or batch, or on a machine with more memory. With a limit
    (memory=), outlive stops the model before the machine runs out.

Limits
    All processes of the cgroup share the counter: a kill of another process at the same moment looks
    the same.
"""

from outlive.process.flight import Flight
from outlive.rules import memory_verdict as shortage
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_kernel, limited_command, place

# It may have this share of the memory; the rest is for the caller and the system.
_SHARE = 0.7


@rule("D501", "killed-for-memory", Severity.ERROR, since="0.1")
def killed_for_memory(flight: Flight) -> Sightings:
    if cause(flight) != "killed-for-memory":
        return
    see = Remedy("check the memory of this machine and container", Tag.SAME_RESULTS, command="outlive doctor")
    yield Sighting(
        value=shortage.need_and_room(flight),
        where=place(flight),
        evidence=shortage.evidence(flight),
        why="the machine or container ran out of memory, and the system killed this process",
        remedies=(*shortage.remedies(flight), see, *_limit(flight)),
        fault=Fault.MACHINE,
    )


def _limit(flight: Flight) -> tuple[Remedy, ...]:
    """A limit of its own, below the memory there is; a kernel has none."""
    room = shortage.had(flight)
    if is_kernel(flight) or room is None:
        return ()
    action = "set a memory limit, to get an error instead of a kill"
    size = f"{max(1, int(room.bytes * _SHARE / 1e6))}MB"
    return (Remedy(action, Tag.SAME_RESULTS, command=limited_command(flight, size)),)
