"""the model needs more memory than its limit allows

What it checks
    Whether the runtime could not get memory under a limit that you set (memory=, --memory), or held more than
    that, or more than nearly all that the machine or container has left, which every worker is given.

Why it matters
    The limit did its work: the model came to its end, and your program did not.

What to do
    Raise the limit if the machine has the memory, or use a smaller input, batch or model.

Limits
    LiteRT says little when it gets no memory. Taken for it are: a complaint about memory, a complaint
    without words, an uncaught std::bad_alloc, and a null pointer followed with half the limit in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.tensorflow_words import asked_for
from outlive.rules.witness import amount, cause, doer, limited_command, memory, place, witness
from outlive.units import format_bytes
from outlive.worker.flight import Flight

# What the runtime did when it did not get the memory.
_AFTER = {
    "SIGSEGV": ", and used it without looking whether it was there",
    "SIGABRT": ", and nothing caught the exception that says so",
}


@rule("D502", "memory-limit-reached", Severity.ERROR, since="0.1")
def memory_limit_reached(flight: Flight) -> Iterator[Sighting]:
    """See the module."""
    if cause(flight) != "memory-limit":
        return
    yield Sighting(
        headline=f"the {doer(flight)} needs more memory than its limit allows",
        where=place(flight),
        evidence=(*_asked(flight), *(witness(flight) if flight.died else _said(flight)), *_in_use(flight)),
        why=_why(flight),
        remedies=_remedies(flight),
        confidence="likely",
        fault=Fault.MACHINE,
    )


def _why(flight: Flight) -> str:
    if flight.died and flight.ended_by:
        return "it held more than the limit, and was ended before it could take more from everything else"
    return f"it asked for memory that the limit did not let it have{_AFTER.get(flight.signal or '', '')}"


def _asked(flight: Flight) -> tuple[Evidence, ...]:
    size = asked_for(flight)
    return (Evidence(fact=f"it asked for {size}", source="standard error"),) if size and flight.died else ()


def _said(flight: Flight) -> tuple[Evidence, ...]:
    words = " ".join(flight.error_text.split())
    fact = f"the runtime said: {words}" if words else "the runtime refused without a word"
    return (Evidence(fact=fact, source=flight.error_type), *memory(flight))


def _in_use(flight: Flight) -> tuple[Evidence, ...]:
    """Memory of the whole process beside the limit that the system was told to keep."""
    used, limit = flight.last_memory.get("data_bytes"), amount(flight.limits.get("data_bytes"))
    if limit is None or (flight.died and flight.ended_by):
        return ()
    beside = f"{format_bytes(used)} in use, " if used is not None else ""
    return (Evidence(fact=f"{beside}{format_bytes(limit)} allowed to the process", source="RLIMIT_DATA"),)


def _remedies(flight: Flight) -> tuple[Remedy, ...]:
    limit = amount(flight.limits.get("memory_bytes"))
    smaller = Remedy(action="use a smaller input or batch", tag=Tag.CHANGES_RESULTS)
    if limit is None:
        see = "see how much memory this machine and container have; no limit was set, so that is the limit"
        return smaller, Remedy(action=see, tag=Tag.SAME_RESULTS, command="outlive doctor")
    twice = f"{max(1, 2 * limit // 1_000_000)}MB"
    more = Remedy(
        action="raise the limit (memory=), if the machine has more",
        tag=Tag.SAME_RESULTS,
        command=limited_command(flight, twice),
    )
    return more, smaller
