"""the model computes values that are not finite

What it checks
    Whether any tensor of either model held NaN or an infinity while the samples ran; the samples hold none.

Why it matters
    Such a value spreads to all that depends on it, and a comparison can say nothing about those. In the
    float model it makes ranges meaningless: calibration with it gives a broken model.

What to do
    Look at the first operator that makes one: a division by 0, a logarithm, an exponent too large for
    float16.

Limits
    Which of the two models made it is not said; some models use infinity for masks on purpose.
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
        facts.append(Evidence(f"it reaches {plural(len(bad) - 1, 'tensor')} behind it", "comparison"))
    yield Sighting(
        where=drifts.layer_name(first),
        evidence=tuple(facts),
        why="the operator makes them of inputs that are finite",
        remedies=(
            Remedy(
                "cut the operator out and run it on what it gets",
                Tag.SAME_RESULTS,
                command=f"outlive cut FILE --ops {first.op} -o part.tflite",
            ),
        ),
        op=first.place,
    )
