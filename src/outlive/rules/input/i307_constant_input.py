"""All input values are equal

What it checks
    An input of at least 16 float or quantized values has more than one value.

Why it matters
    An image that failed to load, a muted microphone or an unfilled buffer: the model runs, and its
    result means nothing. As a calibration sample it gives an empty range.

What to do
    Check the code that fills the array.

Limits
    Ignore the finding in tests of speed or memory. Integers that are not quantized (masks, lengths,
    tokens) are exempt.
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
            why="real data is rarely constant",
            remedies=(Remedy("check the code that fills the array", Tag.CHANGES_RESULTS),),
            confidence="certain that the values are equal; it may be intended",
            fault=Fault.INPUT,
        )
