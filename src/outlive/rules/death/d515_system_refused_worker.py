"""The system refused resources for a worker

What it checks
    The system granted outlive a new process, pipe, file or shared memory, and the process that starts
    workers became ready.

Why it matters
    The model and its inputs are not the cause, and nothing was computed.

What to do
    Close interpreters that you no longer need, or raise the limit in the message (`ulimit -n` for open
    files, `ulimit -u` for processes).

Limits
    The system names the missing resource, not its user.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, place

# What the system says (errno.h, strerror), and the command that shows the limit.
_LIMITS = (("open files", "ulimit -n"), ("unavailable", "ulimit -u"), ("memory", "free -m"))


@rule("D515", "system-refused-worker", Severity.ERROR, since="0.2")
def system_refused_worker(flight: Flight) -> Sightings:
    """A process, a pipe or memory that could not be had."""
    if cause(flight) == "system-refusal":
        yield Sighting(
            where=place(flight),
            evidence=(Evidence(flight.error_text, "system"),),
            why="outlive runs models in separate processes, and the system refused a resource for them",
            remedies=(_remedy(flight.error_text.lower()),),
            fault=Fault.MACHINE,
        )


def _remedy(said: str) -> Remedy:
    for words, command in _LIMITS:
        if words in said:
            action = "close interpreters that you do not need, or raise the limit"
            return Remedy(action, Tag.SAME_RESULTS, command=command)
    return Remedy("check what prevents workers from starting", Tag.SAME_RESULTS, command="outlive doctor")
