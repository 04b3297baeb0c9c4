"""Infinite values in the input

What it checks
    No float array contains infinities.

Why it matters
    Infinity times 0, or infinity minus infinity, is NaN, which spreads. As an integer it is undefined.
    TensorFlow's converter has crashed on calibration samples with an infinity.

What to do
    Clip the values to the range that the model saw in training.

Limits
    Ignore the finding if the model only compares with infinity, adds it as a mask, or clips its input.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed


@rule("I306", "infinite-input", Severity.WARNING, since="0.1")
def infinite_input(inputs: Feed) -> Sightings:
    for given in inputs.given:
        count = given.seen.infinite_count
        if not count:
            continue
        fact = f"{count:,} of {given.seen.size:,} values are infinite"
        yield Sighting(
            where=given.place,
            evidence=(Evidence(fact, "inputs"), given.evidence),
            why="infinity becomes NaN when it is multiplied by 0 or normalized",
            remedies=(
                Remedy(
                    "clip the values",
                    Tag.CHANGES_RESULTS,
                    command="value = np.nan_to_num(value, posinf=HIGH, neginf=LOW)",
                ),
            ),
            confidence="likely",
            fault=Fault.INPUT,
        )
