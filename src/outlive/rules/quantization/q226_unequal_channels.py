"""Very different channels share one scale

What it checks
    In weights with a single scale, no channel of the float model has less than a sixteenth of the
    largest channel's magnitude and would gain 6 dB by its own scale. With 8 bits such a channel has
    fewer than 8 levels per sign.

Why it matters
    The largest channel sets the steps for all. In small channels most weights become 0.

What to do
    Quantize weights per channel, as every recipe of outlive does. If the hardware supports only one
    scale, equalize the channels in the float model first (cross-layer equalization), or keep the
    operator in float.

Limits
    Channels of only zeros are exempt. The weights do not show whether a small channel matters: the
    error of the operator does.
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
        "the largest channel sets the step size for all channels",
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
    return f"{drifts.layer_name(row)}: {small}; SQNR of their weights {found.sqnr_db:.1f} dB"


def _by_channel(row: TensorDrift) -> Remedy:
    found = row.weights
    assert found is not None
    return Remedy(
        "quantize the weights per channel",
        Tag.CHANGES_MODEL,
        effect=f"the weights of {drifts.layer_name(row)} improve from {found.sqnr_db:.1f} to "
        f"{found.per_channel_sqnr_db:.1f} dB",
        command="outlive quantize FLOAT --recipe static-int8 --samples samples.npz -o OUT",
    )
