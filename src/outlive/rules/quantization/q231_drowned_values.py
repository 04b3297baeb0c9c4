"""Large values leave too few steps for the others

What it checks
    No tensor with a good overall match (20 dB or more) leads to a bad output (below 10 dB) in the
    operator that reads it, if most of that error comes from the tensor.

Why it matters
    All channels of an activation share one range. If one channel is a hundred times larger than the
    others, it sets the steps, and the others are rounded to almost nothing. The tensor looks good as a
    whole because of the large channel, but the next layer sees noise in the small ones.

What to do
    Keep both the operator that writes the tensor and the one that reads it in float, or use 16-bit
    activations. In the float model you can equalize the channels without changing the result
    (cross-layer equalization).

Limits
    Other inputs of the reading operator may contain noise too. A few samples may not show the relevant
    values.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Severity, Sightings, rule
from outlive.rules.quantization import drifts

_GOOD_DB = 20.0
_BAD_DB = 10.0
_LEAST_SHARE = 0.5


@rule("Q231", "drowned-values", Severity.WARNING, since="0.1")
def drowned_values(drift: Drift) -> Sightings:
    bad = sorted((row for row in drift.tensors if _is_drowned(row)), key=lambda row: -row.harm)
    if not bad:
        return
    users = [row for row in drift.tensors if row.op == bad[0].used_by]
    effect = f"operator {bad[0].used_by} reads float values; its output has {bad[0].used_sqnr_db:.1f} dB now"
    why = "the largest values set the range, and the smaller ones matter"
    fix = drifts.keep_float([bad[0], *users], effect)
    yield drifts.sight_layers(bad, map(_fact, bad), why, fix, drifts.wider(), confidence="likely")


def _is_drowned(row: TensorDrift) -> bool:
    here, total = row.born_here, row.metrics
    if here is None or total is None or row.scale is None or row.used_sqnr_db is None:
        return False
    if not here.num_elements or not total.mean_squared_error:
        return False
    share = here.mean_squared_error / total.mean_squared_error
    return total.sqnr_db >= _GOOD_DB and row.used_sqnr_db < _BAD_DB and share >= _LEAST_SHARE


def _fact(row: TensorDrift) -> str:
    assert row.metrics is not None
    used = f"{row.used_sqnr_db:.1f} dB after operator {row.used_by}"
    return f"{drifts.layer_name(row)}: SQNR {row.metrics.sqnr_db:.1f} dB overall, {used}"
