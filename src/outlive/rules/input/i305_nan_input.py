"""NaN in the input

What it checks
    No float array contains NaN.

Why it matters
    NaN spreads to every output that depends on it. When QUANTIZE or CAST turns it into an integer, the
    result is undefined, and an index computed from it can point anywhere. Calibration with NaN silently
    produces a model that is not quantized.

What to do
    Find the source (a division by 0, a missing value, a logarithm of 0) and replace the value there.

Limits
    Few models use NaN for missing values on purpose.
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
            why="every output that depends on NaN is NaN or undefined",
            remedies=(
                Remedy(
                    "find the NaN values, and fix their source",
                    Tag.CHANGES_RESULTS,
                    command="np.argwhere(np.isnan(value))[:10]",
                ),
            ),
            fault=Fault.INPUT,
        )
