"""values are cut off at the ends of what their type can hold

What it checks
    The share of each tensor's values that are the least or greatest its type has, where the float model's
    value lies beyond. Seen are tensors with more than one in a hundred.

Why it matters
    What is cut off is lost: the error is as large as what lies beyond the range, and everything after it
    works with that.

What to do
    Calibrate with samples that reach as far as real inputs do.

Limits
    A little clipping of rare outliers can be wanted: it makes all steps finer. Outputs whose range is
    prescribed by the runtime are left alone: that of a softmax ends one step before 1.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.quantization import drifts

_MOST_SHARE = 0.01


@rule("Q221", "clipped-values", Severity.WARNING, since="0.1")
def clipped_values(drift: Drift) -> Sightings:
    bad = sorted((row for row in drift.tensors if _share(row) > _MOST_SHARE), key=lambda row: -_share(row))
    if not bad:
        return
    why = "the range that was chosen is smaller than the values that pass"
    yield drifts.sight_layers(
        bad, map(_fact, bad), why, drifts.calibrate_again(_effect(bad[0])), drifts.keep_float(bad)
    )


def _share(row: TensorDrift) -> float:
    """The share by the operator's own inputs, where it could be run alone."""
    metrics = row.born_here or row.metrics
    if metrics is None or metrics.saturated_share is None or row.op_type in drifts.FIXED:
        return 0.0
    return metrics.saturated_share


def _fact(row: TensorDrift) -> str:
    metrics = row.born_here or row.metrics
    assert metrics is not None
    wanted = f"{metrics.reference_min:.4g} to {metrics.reference_max:.4g}"
    holds = ""
    if row.scale is not None and row.zero_point is not None and row.dtype in drifts.ENDS:
        low, high = (row.scale * (end - row.zero_point) for end in drifts.ENDS[row.dtype])
        holds = f", it holds {low:.4g} to {high:.4g}"
    return f"{drifts.layer_name(row)}: {_share(row):.1%} cut off; values from {wanted}{holds}"


def _effect(row: TensorDrift) -> str:
    """A range that holds all, and what it costs: steps that are so much coarser."""
    metrics = row.born_here or row.metrics
    if metrics is None or not row.scale or row.dtype not in drifts.ENDS:
        return ""
    least, most = drifts.ENDS[row.dtype]
    step = (max(metrics.reference_max, 0.0) - min(metrics.reference_min, 0.0)) / (most - least)
    coarser = max(1.0, step / row.scale)
    return f"a range that holds these values cuts off nothing, with steps {coarser:.1f} times as coarse"
