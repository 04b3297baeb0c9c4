"""all values given to an input are the same

What it checks
    Whether at least 16 real numbers, or quantized ones, are all alike.

Why it matters
    A picture that was not loaded, a microphone that is off, a buffer that nobody filled: the model runs,
    and answers something that means nothing. As a calibration sample it teaches a range of nothing.

What to do
    Look at what fills the array.

Limits
    It does not hurt in a test of speed or memory. Masks, lengths and tokens are often all the same:
    integers that are not quantized are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.given import Feed, input_place, quantized, values_seen

_LEAST_VALUES = 16


@rule("I307", "constant-input", Severity.WARNING, since="0.1")
def constant_input(inputs: Feed) -> Iterator[Sighting]:
    """See the module."""
    for given in inputs.given:
        seen = given.seen
        measured = seen.is_float or quantized(given.tensor) is not None
        if not measured or not seen.is_constant or seen.size < _LEAST_VALUES:
            continue
        fact = f"all {seen.size:,} values are {seen.minimum:.6g}"
        yield Sighting(
            where=input_place(given),
            evidence=(Evidence(fact=fact, source="inputs"), values_seen(given)),
            why="data from the world are hardly ever all alike",
            remedies=(Remedy(action="look at what fills the array", tag=Tag.CHANGES_RESULTS),),
            confidence="certain that they are; whether it is meant so is yours to say",
            fault=Fault.INPUT,
        )
