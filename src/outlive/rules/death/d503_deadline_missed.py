"""the call did not finish in the time it was given

What it checks
    Whether a call took longer than its limit (seconds=, --seconds), so that outlive ended the worker.

Why it matters
    A loop without end in a model, or a very slow kernel, would otherwise hold your program for ever.

What to do
    Give it more time. If it never ends, look at the loops (WHILE) of the model and at what decides when
    they stop.

Limits
    Slow and endless look the same at the deadline. Whether it computed or waited is measured over the last
    fifth of a second.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, memory, native_stack, place, was_busy

_DOCTOR = Remedy("see whether workers can start here", Tag.SAME_RESULTS, command="outlive doctor")
_LOOPS = Remedy(
    "look for loops (WHILE) that may not end", Tag.SAME_RESULTS, command="outlive read FILE --graph"
)

_STACKS = Remedy(
    "see where each thread stood: the flight's fault_trace has all their Python stacks", Tag.SAME_RESULTS
)
# By whether it used a processor at the end; None: unknown.
_CAUSES = {True: "infinite-loop", False: "hang", None: ""}
_CONFIDENCE = {
    True: "certain; whether it is slow or endless is not known",
    False: "certain that it waited",
    None: "certain; whether it is slow or endless is not known",
}


@rule("D503", "deadline-missed", Severity.ERROR, since="0.1")
def deadline_missed(flight: Flight) -> Sightings:
    if cause(flight) != "deadline":
        return
    seconds = flight.limits.get("seconds")
    waited, longer = "no answer", ""
    if isinstance(seconds, (int, float)):
        waited, longer = f"no answer after {seconds:g} s", f"outlive run FILE --seconds {10 * seconds:g}"
    starting, function = flight.stage == "start", is_function(flight)
    yield Sighting(
        where=place(flight),
        evidence=(Evidence(waited, "deadline"), *_activity(flight), *native_stack(flight), *memory(flight)),
        why="the worker did not come to life in time, and outlive ended it" if starting else _why(flight),
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
    fact = f"at its deadline it used {share:.0%} of a processor, with {threads} thread{'s' * (threads != 1)}"
    return (Evidence(fact, "process table"),)


def _why(flight: Flight) -> str:
    if was_busy(flight) is False:
        return "the call was waiting for something that did not come, and outlive ended its process"
    doing = "computing" if was_busy(flight) else "running"
    return f"the call was still {doing} at its deadline, and outlive ended its process"


def _remedies(flight: Flight, longer: str) -> tuple[Remedy, ...]:
    if was_busy(flight) is False:
        return (_STACKS,)
    more = Remedy(
        "give it more time (seconds=), to learn whether it is slow", Tag.SAME_RESULTS, command=longer
    )
    return (more, _STACKS) if is_function(flight) else (more, _LOOPS)
