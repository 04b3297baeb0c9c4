"""values are small beside the steps that the runtime prescribes

What it checks
    8-bit outputs of operators whose steps are the same in every model: softmax and logistic 1/256, tanh and
    L2 normalization 1/128, log softmax 1/16. Seen are those whose values in the float model would need less
    than an eighth of the range, fewer than 32 of its levels.

Why it matters
    No calibration changes these steps. A softmax over a thousand classes, or a logistic that is hardly ever
    sure, becomes a few levels and mostly 0; what ranks or multiplies it has nothing left to work with.

What to do
    Keep the operator in float: it is a small part of the work. Where only the order of the values matters,
    leave it out of the model and take what goes into it.

Limits
    Few samples may not show all that a tensor can become.
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
        "the steps are fixed by the runtime, and the values are not much larger",
        drifts.keep_float(bad, f"the {first.sqnr_db:.1f} dB of signal to noise here become exact"),
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
    return f"{drifts.layer_name(row)}: values from {values}, {plural(levels, 'level')} of {_LEVELS + 1}"
