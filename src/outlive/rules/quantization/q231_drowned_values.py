"""a few large values leave the others too few steps

What it checks
    Tensors that are as good as they should be as a whole, 20 dB and more, and out of which the operator that
    uses them makes something that is not, less than 10 dB, where most of the error was born in the tensor.

Why it matters
    One range serves all channels of an activation. If one of them is a hundred times larger than the rest, it
    sets the steps, and the others are rounded to next to nothing. Seen as a whole the tensor looks fine,
    because the large channel is; what the next layer makes of the small ones is noise.

What to do
    Keep the operator that writes the tensor and the one that uses it in float (one of them alone would still
    pass the tensor on in 8 bits), or give activations 16 bits. In the float model the channels can be
    levelled without changing the result (cross-layer equalization): what one layer gives less of, the next
    one takes more of.

Limits
    The operator that uses the tensor may be given noise by its other inputs too. Few samples may not show
    what matters.
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
    effect = (
        f"op {bad[0].used_by} works with float values; what it makes has {bad[0].used_sqnr_db:.1f} dB now"
    )
    why = "the range is that of its largest values, and the smaller ones are those that count"
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
    used = f"{row.used_sqnr_db:.1f} dB in what op {row.used_by} makes of it"
    return f"{drifts.layer_name(row)}: signal to noise {row.metrics.sqnr_db:.1f} dB as a whole, {used}"
