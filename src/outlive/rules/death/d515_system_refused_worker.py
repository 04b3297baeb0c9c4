"""the system refuses what a worker process needs

What it checks
    Whether the system refused a new process, a pipe, a file or shared memory to outlive itself, or the
    process that starts workers ended before it was ready.

Why it matters
    The model and its inputs have nothing to do with it, and nothing was computed.

What to do
    Close interpreters that are no longer needed, or raise the limit that the message names (`ulimit -n`
    for open files, `ulimit -u` for processes).

Limits
    The system names the resource it lacks, not who uses it up.
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
            why="outlive runs models in processes of their own, and the system refused what these need",
            remedies=(_remedy(flight.error_text.lower()),),
            fault=Fault.MACHINE,
        )


def _remedy(said: str) -> Remedy:
    for words, command in _LIMITS:
        if words in said:
            action = "close interpreters that are not needed, or raise the limit"
            return Remedy(action, Tag.SAME_RESULTS, command=command)
    return Remedy("see what this machine lacks to start workers", Tag.SAME_RESULTS, command="outlive doctor")
