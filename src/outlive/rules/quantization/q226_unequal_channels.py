"""channels of very different size share one scale

What it checks
    Weights that are quantized as a whole, channel by channel of the float model: the greatest magnitude of
    each. Seen are operators in which a channel has less than a sixteenth of the largest one's, so that 8 bits
    leave it fewer than 8 levels for each sign, and would gain 6 dB by a scale of its own.

Why it matters
    The largest channel sets the steps for all. In the small ones most weights become 0, and what these
    channels had learnt is gone.

What to do
    Quantize weights by channel: every recipe of outlive does. Where the hardware takes one scale only, level
    the channels in the float model first (cross-layer equalization), or keep the operator in float.

Limits
    A channel that is nothing but zeros does not count. Whether a small channel matters to the answer is not
    known from its weights: the error that is born in the operator says so.
"""

from outlive.quant import Drift, TensorDrift
from outlive.rules.api import Remedy, Severity, Sightings, Tag, rule
from outlive.rules.quantization import drifts
from outlive.units import plural

_LEAST_GAIN_DB = 6.0


@rule("Q226", "unequal-channels", Severity.WARNING, since="0.1")
def unequal_channels(drift: Drift) -> Sightings:
    bad = sorted((row for row in drift.tensors if _gain(row) >= _LEAST_GAIN_DB), key=lambda row: -_gain(row))
    if not bad:
        return
    yield drifts.sight_layers(
        bad,
        map(_fact, bad),
        "one scale for all channels has steps as coarse as the largest channel needs",
        _by_channel(bad[0]),
        drifts.keep_float(bad, drifts.share_of_error(drift, bad[: drifts.SHOWN])),
        source="both files",
    )


def _gain(row: TensorDrift) -> float:
    """What a scale for each channel would gain; 0 where no channel is small."""
    found = row.weights
    if found is None or not found.weak_channels or found.sqnr_db is None or found.per_channel_sqnr_db is None:
        return 0.0
    return found.per_channel_sqnr_db - found.sqnr_db


def _fact(row: TensorDrift) -> str:
    found = row.weights
    assert found is not None
    small = f"{found.weak_channels} of {plural(found.channels, 'channel')} below 1/16 of the largest"
    return f"{drifts.layer_name(row)}: {small}; their weights have {found.sqnr_db:.1f} dB"


def _by_channel(row: TensorDrift) -> Remedy:
    found = row.weights
    assert found is not None
    return Remedy(
        "give each channel of the weights a scale of its own",
        Tag.CHANGES_MODEL,
        effect=f"these weights of {drifts.layer_name(row)} rise from {found.sqnr_db:.1f} to "
        f"{found.per_channel_sqnr_db:.1f} dB",
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )
