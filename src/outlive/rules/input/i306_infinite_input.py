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

from __future__ import annotations

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, Remedy, Severity, Sighting, Tag
from outlive.rules.engine import rule
from outlive.rules.given import Feed, input_place, values_seen


@rule("I306", "infinite-input", Severity.WARNING, since="0.1")
def infinite_input(inputs: Feed) -> Iterator[Sighting]:
    """See the module."""
    for given in inputs.given:
        count = given.seen.infinite_count
        if not count:
            continue
        fact = f"{count:,} of {given.seen.size:,} values are infinite"
        yield Sighting(
            where=input_place(given),
            evidence=(Evidence(fact=fact, source="inputs"), values_seen(given)),
            why="an infinity that is multiplied or normalised becomes NaN",
            remedies=(
                Remedy(
                    action="clip the values",
                    tag=Tag.CHANGES_RESULTS,
                    command="value = np.nan_to_num(value, posinf=HIGH, neginf=LOW)",
                ),
            ),
            confidence="likely",
            fault=Fault.INPUT,
        )
