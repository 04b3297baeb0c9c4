"""the model did not finish in the time it was given

What it checks
    Whether a call took longer than its limit (seconds=, --seconds), so that outlive ended the worker.

Why it matters
    A loop without end in a model, or a very slow kernel, would otherwise hold your program for ever.

What to do
    Give it more time. If it never ends, look at the loops (WHILE) of the model and at what decides when
    they stop.

Limits
    Slow and endless look the same at the deadline.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.witness import cause, memory, native_stack, place
from outlive.worker.flight import Flight

_DOCTOR = Remedy(action="see whether workers can start here", tag=Tag.SAME_RESULTS, command="outlive doctor")
_LOOPS = Remedy(
    action="look for loops (WHILE) that may not end",
    tag=Tag.SAME_RESULTS,
    command="outlive read FILE --graph",
)


@rule("D503", "deadline-missed", Severity.ERROR, since="0.1")
def deadline_missed(flight: Flight) -> Iterator[Sighting]:
    """See the module."""
    if cause(flight) != "deadline":
        return
    seconds = flight.limits.get("seconds")
    waited, longer = "no answer", ""
    if isinstance(seconds, (int, float)):
        waited, longer = f"no answer after {seconds:g} s", f"outlive run FILE --seconds {10 * seconds:g}"
    starting = flight.stage == "start"
    yield Sighting(
        where=place(flight),
        evidence=(Evidence(fact=waited, source="deadline"), *native_stack(flight), *memory(flight)),
        why="the worker did not come to life in time, and outlive ended it"
        if starting
        else "the call was still running at its deadline, and outlive ended its process",
        remedies=(_DOCTOR,) if starting else (_more_time(longer), _LOOPS),
        confidence="certain" if starting else "certain; whether it is slow or endless is not known",
        fault=Fault.MACHINE if starting else Fault.RUNTIME,
    )


def _more_time(command: str) -> Remedy:
    action = "give it more time (seconds=), to learn whether it is slow"
    return Remedy(action=action, tag=Tag.SAME_RESULTS, command=command)
