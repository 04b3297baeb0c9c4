"""Fixed quantization steps are too coarse

What it checks
    8-bit outputs with steps fixed by the runtime (softmax and logistic 1/256, tanh and L2 normalization
    1/128, log softmax 1/16) need at least an eighth of the range, or 32 levels, for the float model's
    values.

Why it matters
    Calibration cannot change these steps. A softmax over a thousand classes, or a logistic with low
    scores, becomes a few levels and mostly 0, and later layers lose the ranking.

What to do
    Keep the operator in float: it is a small part of the work. If only the order of the values matters,
    remove the operator and use its input.

Limits
    A few samples may not show the full range of a tensor.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.quantization import drifts
from outlive.units import plural

_LEAST_SHARE = 1 / 8
_LEVELS = 255


@rule("Q229", "coarse-fixed-steps", Severity.WARNING, since="0.1")
def coarse_fixed_steps(drift: Drift) -> Sightings:
    bad = sorted((row for row in drift.tensors if _is_coarse(row)), key=drifts.needed_share)
    if not bad:
        return
    first = bad[0].born_here or bad[0].metrics
    assert first is not None
    yield drifts.sight_layers(
        bad,
        map(_fact, bad),
        "the runtime fixes the step size, and the values are not much larger",
        drifts.keep_float(bad, f"removes the error here (SQNR {first.sqnr_db:.1f} dB)"),
        drifts.wider(),
        confidence=drifts.certainty(drift),
    )


def _is_coarse(row: TensorDrift) -> bool:
    if row.dtype not in ("int8", "uint8") or row.op_type not in drifts.FIXED or row.metrics is None:
        return False
    return row.metrics.reference_min < row.metrics.reference_max and drifts.needed_share(row) < _LEAST_SHARE


def _fact(row: TensorDrift) -> str:
    assert row.metrics is not None
    values = f"{row.metrics.reference_min:.4g} to {row.metrics.reference_max:.4g}"
    levels = max(1, round(drifts.needed_share(row) * _LEVELS))
    return f"{drifts.layer_name(row)}: values {values}, {plural(levels, 'level')} of {_LEVELS + 1}"
