"""the model needs more memory than its limit allows

What it checks
    Whether something could not get memory under a limit: the one you set (memory=, --memory), or else what
    the container or the machine has. A model, a function, a script or a cell; also one that raised
    MemoryError, numpy's "Unable to allocate" or TensorFlow's ResourceExhaustedError.

Why it matters
    The limit did its work: the model came to its end, and your program did not.

What to do
    Read needed and had: raise the limit if the machine has the memory, or take what is said to fit.

Limits
    LiteRT says little when it gets no memory. Taken for it are: a complaint about memory, a complaint
    without words, an uncaught std::bad_alloc, and a null pointer followed with half the limit in use.
"""

from outlive.process.flight import Flight
from outlive.rules import memory_verdict as shortage
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import amount, cause, doer, place

# What the runtime did when it did not get the memory.
_AFTER = {
    "SIGSEGV": ", and used it without looking whether it was there",
    "SIGABRT": ", and nothing caught the exception that says so",
}


@rule("D502", "memory-limit-reached", Severity.ERROR, since="0.1")
def memory_limit_reached(flight: Flight) -> Sightings:
    if cause(flight) != "memory-limit":
        return
    yield Sighting(
        headline=shortage.headline(flight) or f"the {doer(flight)} did not get the memory that it asked for",
        where=place(flight),
        evidence=shortage.evidence(flight),
        why=_why(flight),
        remedies=(*shortage.remedies(flight), *_see(flight)),
        confidence="certain" if flight.ended_by == "memory" and flight.died else "likely",
        fault=Fault.MACHINE,
    )


def _why(flight: Flight) -> str:
    if flight.died and flight.ended_by == "memory":
        return "it took more memory than it may, and was ended before the machine ran out"
    return f"it asked for memory that it could not have{_AFTER.get(flight.signal or '', '')}"


def _see(flight: Flight) -> tuple[Remedy, ...]:
    """Where the machine is the limit."""
    if amount(flight.limits.get("memory_bytes")) is not None or shortage.had(flight) is None:
        return ()
    action = "see how much memory this machine and container have; no limit was set, so that is the limit"
    return (Remedy(action, Tag.SAME_RESULTS, command="outlive doctor"),)
