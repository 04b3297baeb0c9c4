"""Time limit exceeded

What it checks
    No call took longer than its limit (seconds=, --seconds).

Why it matters
    An endless loop in a model, or a very slow kernel, would block your program forever.

What to do
    Raise the limit. If the call never ends, check the loops (WHILE) of the model and their conditions.

Limits
    At the deadline, slow and endless look the same. outlive measures over the last 0.2 seconds whether
    the call computed or waited.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, memory, native_stack, place, was_busy

_DOCTOR = Remedy("check whether workers can start", Tag.SAME_RESULTS, command="outlive doctor")
_LOOPS = Remedy("check the loops (WHILE) of the model", Tag.SAME_RESULTS, command="outlive read FILE --graph")

_STACKS = Remedy("read the Python stacks of all threads in the flight's fault_trace", Tag.SAME_RESULTS)
# By whether it used a processor at the end; None: unknown.
_CAUSES = {True: "infinite-loop", False: "hang", None: ""}
_CONFIDENCE = {
    True: "certain; it may be slow or endless",
    False: "certain; it was waiting",
    None: "certain; it may be slow or endless",
}


@rule("D503", "deadline-missed", Severity.ERROR, since="0.1")
def deadline_missed(flight: Flight) -> Sightings:
    if cause(flight) != "deadline":
        return
    seconds = flight.limits.get("seconds")
    waited, longer = "", ""
    if isinstance(seconds, (int, float)):
        waited, longer = f"{seconds:g} s", f"outlive run FILE --seconds {10 * seconds:g}"
    starting, function = flight.stage == "start", is_function(flight)
    yield Sighting(
        where=place(flight),
        value=waited,
        evidence=(
            Evidence(f"no answer after {waited}" if waited else "no answer", "deadline"),
            *_activity(flight),
            *native_stack(flight),
            *memory(flight),
        ),
        why="the worker did not start in time" if starting else _why(flight),
        remedies=_remedies(flight, "" if function else longer) if not starting else (_DOCTOR,),
        confidence="certain" if starting else _CONFIDENCE[was_busy(flight)],
        fault=Fault.MACHINE if starting else Fault.RUNTIME,
        cause="" if starting else _CAUSES[was_busy(flight)],
    )


def _activity(flight: Flight) -> tuple[Evidence, ...]:
    share = flight.activity.get("cpu_share")
    if not isinstance(share, (int, float)):
        return ()
    threads = flight.activity.get("threads", 1)
    fact = f"used {share:.0%} of a processor at the deadline, with {threads} thread{'s' * (threads != 1)}"
    return (Evidence(fact, "process table"),)


def _why(flight: Flight) -> str:
    if was_busy(flight) is False:
        return "the call was waiting at the deadline, and outlive ended its process"
    doing = "computing" if was_busy(flight) else "running"
    return f"the call was still {doing} at its deadline, and outlive ended its process"


def _remedies(flight: Flight, longer: str) -> tuple[Remedy, ...]:
    if was_busy(flight) is False:
        return (_STACKS,)
    more = Remedy("raise the time limit (seconds=)", Tag.SAME_RESULTS, command=longer)
    return (more, _STACKS) if is_function(flight) else (more, _LOOPS)
