"""the worker sent a malformed answer

What it checks
    Whether a worker was ended because an answer of it broke the rules of the protocol: a field of another
    type, a size that cannot be, an array that does not fit its shape, bytes that are no frame.

Why it matters
    A worker that runs outlive's own code never sends such an answer. Either the model has overwritten the
    memory of its process, by accident or on purpose, or the worker runs another version of outlive. Nothing
    that it said before can be trusted; its caller has believed nothing of this answer.

What to do
    Do not use the results of this run. Check the file, and run a file from a stranger only in the sandbox.

Limits
    A worker that was taken over and keeps to the protocol can still answer with wrong numbers.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, last_words, place


@rule("D514", "malformed-answer", Severity.ERROR, since="0.2")
def malformed_answer(flight: Flight) -> Sightings:
    """A worker that no longer speaks the protocol."""
    if cause(flight) == "malformed":
        last = last_words(flight)
        printed = (Evidence(f"it printed last: {last}", "standard error"),) if last else ()
        yield Sighting(
            where=place(flight),
            evidence=(Evidence(flight.error_text or "not a frame", "protocol"), *printed),
            why="the process no longer runs outlive's own code as it was written: its memory was overwritten",
            remedies=_remedies(flight),
            confidence="certain; what overwrote its memory is not known",
            fault=Fault.FILE,
        )


def _remedies(flight: Flight) -> tuple[Remedy, ...]:
    again = Remedy("discard the results of this run", Tag.SAME_RESULTS)
    if is_function(flight):
        return (again,)
    check = Remedy(
        "look for what the file has that overwrites memory", Tag.SAME_RESULTS, command="outlive diagnose FILE"
    )
    return (check, again)
