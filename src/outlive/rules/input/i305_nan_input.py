"""some of the given values are not a number

What it checks
    Whether an array of real numbers holds NaN.

Why it matters
    NaN spreads: one is enough for every output that depends on it. Where it is turned into an integer
    (QUANTIZE, CAST), what comes out is anything, and an index made of it can lie outside of all memory.
    Calibrating with it gives a model that is silently not quantized.

What to do
    Find out where it comes from (a division by 0, a missing value, a logarithm of 0) and replace it there.

Limits
    A model may be made to take NaN for a missing value; few are.
"""

from outlive.rules.api import Evidence, Fault, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.feed import Feed


@rule("I305", "nan-input", Severity.ERROR, since="0.1")
def nan_input(inputs: Feed) -> Sightings:
    for given in inputs.given:
        count = given.seen.nan_count
        if not count:
            continue
        fact = f"{count:,} of {given.seen.size:,} values are NaN"
        yield Sighting(
            where=given.place,
            evidence=(Evidence(fact, "inputs"), given.evidence),
            why="every output that depends on one of them is NaN, or anything",
            remedies=(
                Remedy(
                    "look where they are, and fix what makes them",
                    Tag.CHANGES_RESULTS,
                    command="np.argwhere(np.isnan(value))[:10]",
                ),
            ),
            fault=Fault.INPUT,
        )
