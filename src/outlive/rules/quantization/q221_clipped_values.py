"""Values are clipped

What it checks
    At most 1 % of the values of each tensor are at the minimum or maximum of the type while the float
    value lies beyond.

Why it matters
    Clipping loses information: the error is as large as the excess, and all later layers work with it.

What to do
    Calibrate with samples that cover the range of real inputs.

Limits
    Clipping rare outliers can be intended: it makes all steps finer. Outputs with a range fixed by the
    runtime are exempt, such as softmax, which ends one step below 1.
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
    why = "the calibrated range is smaller than the values"
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
        holds = f", range {low:.4g} to {high:.4g}"
    return f"{drifts.layer_name(row)}: {_share(row):.1%} clipped; values {wanted}{holds}"


def _effect(row: TensorDrift) -> str:
    """A range that holds all, and what it costs: steps that are so much coarser."""
    metrics = row.born_here or row.metrics
    if metrics is None or not row.scale or row.dtype not in drifts.ENDS:
        return ""
    least, most = drifts.ENDS[row.dtype]
    step = (max(metrics.reference_max, 0.0) - min(metrics.reference_min, 0.0)) / (most - least)
    coarser = max(1.0, step / row.scale)
    return f"no clipping, with steps {coarser:.1f} times as coarse"
