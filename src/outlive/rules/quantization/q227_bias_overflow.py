"""Bias does not fit in 32 bits

What it checks
    Each bias of the float model fits 32 bits in its steps: the input's scale times the scale of the
    channel's weights. For 8-bit inputs, the rule reserves space for the largest sum of the operator's
    weights.

Why it matters
    Quantizers silently clip the bias, and the sum may overflow: the channel has a constant error.

What to do
    Keep the operator in float, or quantize only its weights: the bias then stays float. In training,
    keep the weights of the channel away from 0: a tiny scale makes the steps too small.

Limits
    Operators with a float bias, or without a bias in both models, are not checked.
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
        "quantize only the weights",
        Tag.CHANGES_MODEL,
        effect="biases and activations stay float",
        command="outlive quantize FLOAT --recipe dynamic-int8 -o OUT",
    )
    yield drifts.sight_layers(
        bad,
        map(_fact, bad),
        "the channel's weights are very small, and the bias has too many of their steps",
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
    return f"{drifts.layer_name(row)}: bias of {found.bias_steps:.3g} steps, limit {found.bias_room:.3g}"
