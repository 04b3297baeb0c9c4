"""all values given to an input are the same

What it checks
    Whether at least 16 real numbers, or quantized ones, are all alike.

Why it matters
    A picture that was not loaded, a microphone that is off, a buffer that nothing filled: the model runs,
    and answers something that means nothing. As a calibration sample it teaches a range of nothing.

What to do
    Look at what fills the array.

Limits
    It does not hurt in a test of speed or memory. Masks, lengths and tokens are often all the same:
    integers that are not quantized are left alone.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed, quantized

_LEAST_VALUES = 16


@rule("I307", "constant-input", Severity.WARNING, since="0.1")
def constant_input(inputs: Feed) -> Sightings:
    for given in inputs.given:
        seen = given.seen
        measured = seen.is_float or quantized(given.tensor) is not None
        if not measured or not seen.is_constant or seen.size < _LEAST_VALUES:
            continue
        fact = f"all {seen.size:,} values are {seen.minimum:.6g}"
        yield Sighting(
            where=given.place,
            evidence=(Evidence(fact, "inputs"), given.evidence),
            why="data from the world are hardly ever all alike",
            remedies=(Remedy("look at what fills the array", Tag.CHANGES_RESULTS),),
            confidence="certain that they are; whether it is meant so is yours to say",
            fault=Fault.INPUT,
        )
