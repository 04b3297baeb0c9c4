"""a bias does not fit in 32 bits

What it checks
    Each bias of the float model in the steps it has to be stored in, the input's scale times that of the
    channel's weights, against what 32 bits hold. With 8-bit inputs room is left for the largest sum that the
    operator's weights can add.

Why it matters
    Quantizers cut such a bias off at the end of the range without a word, and the sum that it begins may
    wrap around: the channel is off by a constant, whatever is fed.

What to do
    Keep the operator in float, or quantize its weights only: the bias stays float then. In training, hold the
    weights of such a channel away from 0: its tiny scale is what makes the steps so small.

Limits
    Operators whose bias is float, and those without one in both models, are not looked at.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.quantization import drifts


@rule("Q227", "bias-overflow", Severity.ERROR, since="0.1")
def bias_overflow(drift: Drift) -> Sightings:
    bad = [row for row in drift.tensors if _excess(row) > 1]
    if not bad:
        return
    bad.sort(key=lambda row: -_excess(row))
    weights_only = Remedy(
        "quantize weights only",
        Tag.CHANGES_MODEL,
        effect="biases and activations stay float, no bias is cut off",
        command="outlive quantize FLOAT --recipe dynamic-int8 -o OUT",
    )
    yield drifts.sight_layers(
        bad,
        map(_fact, bad),
        "the channel's weights are so small beside its bias that the bias has too many of their steps",
        drifts.keep_float(bad, drifts.share_of_error(drift, bad[: drifts.SHOWN])),
        weights_only,
        source="both files",
    )


def _excess(row: TensorDrift) -> float:
    """The largest bias by the room for it."""
    found = row.weights
    if found is None or found.bias_steps is None or found.bias_room is None:
        return 0.0
    return found.bias_steps / max(found.bias_room, 1.0)


def _fact(row: TensorDrift) -> str:
    found = row.weights
    assert found is not None
    return f"{drifts.layer_name(row)}: a bias of {found.bias_steps:.3g} steps, room for {found.bias_room:.3g}"
