"""an integer division had no result

What it checks
    Whether the process ended by SIGFPE.

Why it matters
    An integer divided by zero, or the smallest integer by -1, stops the processor; floating-point
    numbers do not.

What to do
    Look at divisors, strides and sizes of zero in the model, and at the values of integer inputs.

Limits
    Which of the two it was is read from the processor's registers (x86-64); where that is not allowed, the
    signal alone does not say.
"""

from outlive.process.flight import Flight
from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.flight_end import cause, is_function, place, witness


@rule("D506", "arithmetic-fault", Severity.ERROR, since="0.1")
def arithmetic_fault(flight: Flight) -> Sightings:
    if cause(flight) != "arithmetic-fault":
        return
    running = flight.stage in ("invoke", "call")
    values = Remedy(
        "keep 0 out of integer divisors, and -1 where the smallest integer is divided", Tag.CHANGES_RESULTS
    )
    sizes = Remedy(
        "look for strides, sizes and constant divisors of zero",
        Tag.SAME_RESULTS,
        command="outlive read FILE --ops",
    )
    smallest = flight.division is not None and flight.division[1] == -1
    yield Sighting(
        where=place(flight),
        evidence=(*_numbers(flight), *witness(flight)),
        why=_why(flight),
        remedies=(values,) if smallest or is_function(flight) else (values, sizes) if running else (sizes,),
        fault=Fault.RUNTIME,
        cause="int-min-divided-by-minus-one" if smallest else "",
    )


def _numbers(flight: Flight) -> tuple[Evidence, ...]:
    if flight.division is None:
        return ()
    return (Evidence("it divided {:,} by {:,}".format(*flight.division), "processor's registers"),)


def _why(flight: Flight) -> str:
    if flight.division is None:
        return "an integer was divided by zero, or the smallest one by -1"
    if flight.division[1] == 0:
        return "an integer was divided by zero"
    if flight.division[1] == -1:
        return "the result is larger by one than the largest integer there is"
    return "the result is too large for the integers it was to go into"
