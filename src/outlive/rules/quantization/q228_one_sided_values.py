"""Symmetric range for one-sided values

What it checks
    No 8-bit tensor has its zero point in the middle while its values in the float model hardly cross 0
    (smaller side below an eighth of the larger).

Why it matters
    Half of the levels are unused, for example after a RELU: all steps are twice as coarse as necessary.

What to do
    Quantize activations asymmetrically, with their own zero point, as outlive's static recipes do.

Limits
    The runtime requires symmetric int16, and some accelerators support only symmetric types. Tensors
    that only pass values on, and those with fixed steps, are exempt. A few samples may not show the
    full range of a tensor.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.quantization import drifts

_SMALL_SIDE = 1 / 8
# Below this the range is too wide whatever its middle: Q222.
_LEAST_SHARE = 1 / 8
_MOST_SHARE = 0.6


@rule("Q228", "one-sided-values", Severity.NOTE, since="0.1")
def one_sided_values(drift: Drift) -> Sightings:
    bad = sorted((row for row in drift.tensors if _is_one_sided(row)), key=drifts.needed_share)
    if not bad:
        return
    asymmetric = Remedy(
        "quantize activations asymmetrically",
        Tag.CHANGES_MODEL,
        effect=drifts.finer(1 / drifts.needed_share(bad[0])),
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )
    why = "the range is symmetric around 0, and the values are not"
    yield drifts.sight_layers(bad, map(_fact, bad), why, asymmetric, confidence=drifts.certainty(drift))


def _is_one_sided(row: TensorDrift) -> bool:
    metrics = row.metrics
    if (
        row.dtype not in ("int8", "uint8")
        or row.op_type in (*drifts.FIXED, *drifts.HANDING_ON)
        or metrics is None
    ):
        return False
    least, most = drifts.ENDS[row.dtype]
    if row.zero_point is None or abs(row.zero_point - (least + most) / 2) > 1:
        return False
    above, below = max(metrics.reference_max, 0.0), max(-metrics.reference_min, 0.0)
    one_sided = min(above, below) < _SMALL_SIDE * max(above, below)
    return one_sided and _LEAST_SHARE <= drifts.needed_share(row) < _MOST_SHARE


def _fact(row: TensorDrift) -> str:
    assert row.metrics is not None
    assert row.scale is not None
    assert row.zero_point is not None
    low, high = (row.scale * (end - row.zero_point) for end in drifts.ENDS[row.dtype])
    values = f"{row.metrics.reference_min:.4g} to {row.metrics.reference_max:.4g}"
    return f"{drifts.layer_name(row)}: values {values}, range {low:.4g} to {high:.4g}"
