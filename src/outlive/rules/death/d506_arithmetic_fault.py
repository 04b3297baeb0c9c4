"""Integer division fault

What it checks
    The process did not end by SIGFPE.

Why it matters
    An integer division by zero, or of the smallest integer by -1, raises a processor fault.
    Floating-point division does not.

What to do
    Check divisors, strides and sizes of zero in the model, and the values of integer inputs.

Limits
    outlive reads the operands from the processor's registers (x86-64). Without that access, the signal
    does not tell the two cases apart.
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
        "remove 0 from integer divisors, and -1 for the smallest integer",
        Tag.CHANGES_RESULTS,
    )
    sizes = Remedy(
        "check strides, sizes and constant divisors for zero",
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
    return (Evidence("{:,} divided by {:,}".format(*flight.division), "processor's registers"),)


def _why(flight: Flight) -> str:
    if flight.division is None:
        return "an integer division by zero, or of the smallest integer by -1"
    if flight.division[1] == 0:
        return "an integer division by zero"
    if flight.division[1] == -1:
        return "the result exceeds the largest integer by one"
    return "the result does not fit the integer type"
