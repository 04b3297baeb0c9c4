"""the model's process ended by itself without an answer

What it checks
    Whether the process ended with an exit code instead of an answer.

Why it matters
    Something in it called exit(), or it could not start: a delegate library, a custom operator, a
    broken environment.

What to do
    Read what it printed last, and leave out delegates and custom operators to see whose exit() it was.

Limits
    It does not know who called exit().
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, doer, is_function, place, subject, witness


@rule("D509", "process-left", Severity.ERROR, since="0.1")
def process_left(flight: Flight) -> Sightings:
    if cause(flight) != "left":
        return
    starting = flight.stage == "start"
    read = Remedy("read what it printed", Tag.SAME_RESULTS, command="print(error.flight.stderr_tail)")
    doctor = Remedy("see whether workers can start here", Tag.SAME_RESULTS, command="outlive doctor")
    yield Sighting(
        headline=f"{subject(flight)} ended by itself without an answer",
        where=place(flight),
        evidence=witness(flight),
        why="it could not start" if starting else f"code in the process called exit(): {_whose(flight)}",
        remedies=(doctor, read) if starting else (read,),
        fault=Fault.MACHINE if starting else Fault.RUNTIME,
    )


def _whose(flight: Flight) -> str:
    if is_function(flight):
        return f"the {doer(flight)} itself, or a library that it uses"
    return "the runtime, a delegate or a custom operator"
