"""Process exited without an answer

What it checks
    The process did not end with an exit code instead of an answer.

Why it matters
    Code in the process called exit(), or the process could not start: a delegate library, a custom
    operator, a broken environment.

What to do
    Read the last output. Remove delegates and custom operators to find the caller of exit().

Limits
    The rule does not know the caller of exit().
"""

from outlive.process.flight import Flight
from outlive.rules.api import Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, doer, is_function, place, witness


@rule("D509", "process-left", Severity.ERROR, since="0.1")
def process_left(flight: Flight) -> Sightings:
    if cause(flight) != "left":
        return
    starting = flight.stage == "start"
    read = Remedy("read its last output", Tag.SAME_RESULTS, command="print(error.flight.stderr_tail)")
    doctor = Remedy("check whether workers can start", Tag.SAME_RESULTS, command="outlive doctor")
    yield Sighting(
        value=f"exit code {flight.exit_code}",
        where=place(flight),
        evidence=witness(flight),
        why="the process could not start" if starting else f"exit() was called by {_whose(flight)}",
        remedies=(doctor, read) if starting else (read,),
        fault=Fault.MACHINE if starting else Fault.RUNTIME,
    )


def _whose(flight: Flight) -> str:
    if is_function(flight):
        return f"the {doer(flight)} or one of its libraries"
    return "the runtime, a delegate or a custom operator"
