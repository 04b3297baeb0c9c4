"""values of one sign have a range for both

What it checks
    8-bit tensors whose zero point is in the middle, and whose values in the float model hardly cross 0: the
    smaller side is less than an eighth of the larger one.

Why it matters
    Half of the levels stand for values that never come, behind a RELU for instance: all steps are twice as
    coarse as they had to be.

What to do
    Quantize activations asymmetrically, with a zero point of their own: outlive's static recipes do.

Limits
    int16 is symmetric by the runtime's rules, and some accelerators take nothing else. Tensors that only hand
    on what they get, and those with steps that the runtime prescribes, are left alone. Few samples may not
    show all that a tensor can become.
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
        "quantize activations with a zero point of their own",
        Tag.CHANGES_MODEL,
        effect=drifts.finer(1 / drifts.needed_share(bad[0])),
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )
    why = "the range was made symmetric around 0, and the values are not"
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
    return f"{drifts.layer_name(row)}: values from {values}, it holds {low:.4g} to {high:.4g}"
