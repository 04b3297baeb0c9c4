"""Non-finite values inside the model

What it checks
    No tensor of either model contained NaN or infinity while the samples ran.

Why it matters
    Such values spread to everything that depends on them, and a comparison cannot judge those tensors.
    In the float model they invalidate ranges: calibration with them gives a broken model.

What to do
    Check the first operator that produces one: a division by 0, a logarithm, an exponent too large for
    float16.

Limits
    The finding does not say which of the two models produced the value. Some models use infinity for
    masks on purpose.
"""

from outlive.quant import Drift
from outlive.rules.api import Evidence, Remedy, Severity, Sighting, Sightings, Tag, rule
from outlive.rules.quantization import drifts
from outlive.units import plural


@rule("Q225", "not-finite-values", Severity.WARNING, since="0.1")
def not_finite_values(drift: Drift) -> Sightings:
    bad = [row for row in drift.tensors if row.metrics is not None and row.metrics.not_finite]
    if not bad:
        return
    first = bad[0]
    assert first.metrics is not None
    count = first.metrics.not_finite
    total = count + first.metrics.num_elements
    facts = [
        Evidence(f"{count:,} of {total:,} values of {drifts.layer_name(first)} are not finite", "comparison")
    ]
    if len(bad) > 1:
        facts.append(Evidence(f"it spreads to {plural(len(bad) - 1, 'later tensor')}", "comparison"))
    yield Sighting(
        where=drifts.layer_name(first),
        evidence=tuple(facts),
        why="the operator produces them from finite inputs",
        remedies=(
            Remedy(
                "extract the operator and run it on its inputs",
                Tag.SAME_RESULTS,
                command=f"outlive cut FILE --ops {first.op} -o part.tflite",
            ),
        ),
        op=first.place,
    )
