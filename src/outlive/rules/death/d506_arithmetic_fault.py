"""an integer division had no result

What it checks
    Whether the process ended by SIGFPE.

Why it matters
    An integer divided by zero, or the smallest integer by -1, stops the processor; floating-point
    numbers do not.

What to do
    Look at divisors, strides and sizes of zero in the model, and at the values of integer inputs.

Limits
    The signal does not say which of the two it was, nor with which numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.witness import cause, place, witness
from outlive.worker.flight import Flight


@rule("D506", "arithmetic-fault", Severity.ERROR, since="0.1")
def arithmetic_fault(flight: Flight) -> Iterator[Sighting]:
    """See the module."""
    if cause(flight) != "arithmetic-fault":
        return
    running = flight.stage == "invoke"
    values = Remedy(
        action="keep 0 out of integer divisors, and -1 where the smallest integer is divided",
        tag=Tag.CHANGES_RESULTS,
    )
    sizes = Remedy(
        action="look for strides, sizes and constant divisors of zero",
        tag=Tag.SAME_RESULTS,
        command="outlive read FILE --ops",
    )
    yield Sighting(
        where=place(flight),
        evidence=witness(flight),
        why="an integer was divided by zero, or the smallest one by -1",
        remedies=(values, sizes) if running else (sizes,),
        fault=Fault.RUNTIME,
    )
