"""Memory limit exceeded

What it checks
    No allocation failed under a limit: the one you set (memory=, --memory), or the memory of the
    container or machine. The rule covers models, functions, scripts and cells, MemoryError, numpy's
    "Unable to allocate" and TensorFlow's ResourceExhaustedError.

Why it matters
    The limit ended the model, and your program lives.

What to do
    Compare needed and available memory. Raise the limit if the machine has the memory, or use one of
    the settings that fit.

Limits
    LiteRT reports failed allocations poorly. The rule accepts an error about memory, an error without
    text, an uncaught std::bad_alloc, and a null pointer with half of the limit in use.
"""

from outlive.process.flight import Flight
from outlive.rules import memory_verdict as shortage
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import amount, cause, place

# What the runtime did when it did not get the memory.
_AFTER = {
    "SIGSEGV": ", and the runtime used the null pointer",
    "SIGABRT": ", and the runtime did not catch the exception",
}


@rule("D502", "memory-limit-reached", Severity.ERROR, since="0.1")
def memory_limit_reached(flight: Flight) -> Sightings:
    if cause(flight) != "memory-limit":
        return
    yield Sighting(
        value=shortage.need_and_room(flight),
        where=place(flight),
        evidence=shortage.evidence(flight),
        why=_why(flight),
        remedies=(*shortage.remedies(flight), *_see(flight)),
        confidence="certain" if flight.ended_by == "memory" and flight.died else "likely",
        fault=Fault.MACHINE,
    )


def _why(flight: Flight) -> str:
    if flight.died and flight.ended_by == "memory":
        return "outlive ended the process at its limit, before the machine ran out of memory"
    return f"an allocation failed{_AFTER.get(flight.signal or '', '')}"


def _see(flight: Flight) -> tuple[Remedy, ...]:
    """Where the machine is the limit."""
    if amount(flight.limits.get("memory_bytes")) is not None or shortage.had(flight) is None:
        return ()
    action = "check the memory of this machine and container; you set no other limit"
    return (Remedy(action, Tag.SAME_RESULTS, command="outlive doctor"),)
