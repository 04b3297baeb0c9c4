"""some of the given values are infinite

What it checks
    Whether an array of real numbers holds infinities.

Why it matters
    Infinity times 0, or minus infinity, is NaN, which spreads. Turned into an integer it is anything.
    TensorFlow's converter has crashed on calibration samples with an infinity.

What to do
    Clip the values to what the model saw in training.

Limits
    It does not hurt where the model only compares with it, adds it as a mask, or clips by itself.
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
            why="an infinity that is multiplied or normalised becomes NaN",
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
