"""Malformed answer from the worker

What it checks
    Every answer of the worker follows the protocol: field types, sizes, array shapes, frames.

Why it matters
    A worker that runs outlive's code never sends such an answer. Either the model overwrote the memory
    of its process, by accident or on purpose, or the worker runs another version of outlive. outlive
    discarded the answer; earlier answers of this worker are not trustworthy.

What to do
    Do not use the results of this run. Check the file, and run untrusted files only in the sandbox.

Limits
    A compromised worker that follows the protocol can still return wrong numbers.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, last_words, place


@rule("D514", "malformed-answer", Severity.ERROR, since="0.2")
def malformed_answer(flight: Flight) -> Sightings:
    """A worker that no longer speaks the protocol."""
    if cause(flight) == "malformed":
        last = last_words(flight)
        printed = (Evidence(f"last output: {last}", "standard error"),) if last else ()
        yield Sighting(
            where=place(flight),
            evidence=(Evidence(flight.error_text or "not a frame", "protocol"), *printed),
            why="the memory of the process was overwritten: it no longer runs outlive's own code",
            remedies=_remedies(flight),
            confidence="certain; the cause of the overwrite is unknown",
            fault=Fault.FILE,
        )


def _remedies(flight: Flight) -> tuple[Remedy, ...]:
    again = Remedy("discard the results of this run", Tag.SAME_RESULTS)
    if is_function(flight):
        return (again,)
    check = Remedy("diagnose the model", Tag.SAME_RESULTS, command="outlive diagnose FILE")
    return (check, again)
