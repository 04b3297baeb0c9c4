"""What quantization made of an operator's weights and bias, from both files; nothing is run."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Operator
from outlive.quant.drift import WeightStatistics, decibels
from outlive.quant.tensor_graph import TensorGraph, affine

# The dimension of weights that counts output channels (tflite/kernels/*.cc, per-channel quantization).
_CHANNEL_AXIS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0}
_INPUT_PLACE = {"TRANSPOSE_CONV": 2}
_BIAS_PLACE = {"TRANSPOSE_CONV": 3}
_LEVELS = {"int8": 127, "uint8": 127, "int4": 7, "int2": 1}
_WEAK = 1 / 16
_INT32 = 2**31 - 1
# Numbers that are looked at in one go: 8 MB as float64.
_PIECE = 1 << 20


def measure_weights(
    reference: TensorGraph, candidate: TensorGraph, theirs: Operator, ours: Operator
) -> WeightStatistics | None:
    """The weights of an operator of the candidate against those of its partner; None if it has none."""
    axis = _CHANNEL_AXIS.get(ours.type)
    if axis is None or len(ours.inputs) < 2 or len(theirs.inputs) < 2:
        return None
    tensor = candidate.tensors[ours.inputs[1]]
    wanted = _constant(reference, theirs.inputs[1])
    parameters = affine(tensor)
    if wanted is None or not tensor.has_data or not parameters.is_quantized or axis >= wanted.ndim:
        return None
    if tensor.dtype not in _LEVELS or tensor.shape != wanted.shape or not wanted.size:
        return None
    channels = wanted.shape[axis]
    facts: dict[str, Any] = {}
    with np.errstate(all="ignore"):  # weights of a strange file may be anything
        bias_steps, bias_room = _bias(reference, candidate, theirs, ours)
        if len(parameters.scales) == 1 and channels > 1:
            facts = _shared_scale(wanted, axis, parameters.scales[0], _LEVELS[tensor.dtype])
    return WeightStatistics(
        dtype=tensor.dtype,
        scales=len(parameters.scales),
        channels=channels,
        bias_steps=bias_steps,
        bias_room=bias_room,
        **facts,
    )


def _constant(graph: TensorGraph, index: int) -> NDArray[Any] | None:
    """The float values of a constant, as the file has them or behind a DEQUANTIZE; None if it is none."""
    if index < 0:
        return None
    tensor = graph.tensors[graph.roots[index]]
    if not tensor.has_data or tensor.dtype not in ("float32", "float16") or tensor.sparsity is not None:
        return None
    try:
        return tensor.array()
    except LookupError:
        return None


def _channels(values: NDArray[Any], axis: int) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Some channels at a time, a row for each."""
    rows = np.moveaxis(values, axis, 0)
    at_once = max(1, _PIECE // max(1, values.size // rows.shape[0]))
    for start in range(0, rows.shape[0], at_once):
        part = slice(start, start + at_once)
        yield part, rows[part].reshape(rows[part].shape[0], -1).astype(np.float64)


def _shared_scale(values: NDArray[Any], axis: int, scale: float, levels: int) -> dict[str, Any]:
    """What one scale for all costs the channels that are small, beside what a scale for each would."""
    peaks = np.concatenate([np.abs(rows).max(1) for _, rows in _channels(values, axis)])
    # A channel of nothing but zeros loses nothing.
    weak = (peaks > 0) & (peaks < _WEAK * peaks.max())
    power = shared = own = 0.0
    for part, every in _channels(values, axis) if weak.any() else ():
        rows, steps = every[weak[part]], peaks[part][weak[part], np.newaxis] / levels
        power += float(np.square(rows).sum())
        shared += float(np.square(np.clip(np.round(rows / scale), -levels, levels) * scale - rows).sum())
        own += float(np.square(np.round(rows / steps) * steps - rows).sum())
    if not power:
        return {}
    return {
        "weak_channels": int(np.count_nonzero(weak)),
        "sqnr_db": decibels(power, shared) if math.isfinite(power + shared) else -math.inf,
        "per_channel_sqnr_db": decibels(power, own) if math.isfinite(power + own) else -math.inf,
    }


def _bias(
    reference: TensorGraph, candidate: TensorGraph, theirs: Operator, ours: Operator
) -> tuple[float | None, float | None]:
    """The largest bias in steps, and how many there may be; None where the bias is no integer.

    A step is the input's scale times that of the weights. 32 bits hold the bias, and with 8-bit inputs also
    the sum it is added to, which grows by at most 127 times 255 for each weight of a channel.
    """
    place = _BIAS_PLACE.get(ours.type, 2)
    if min(len(ours.inputs), len(theirs.inputs)) <= place or ours.inputs[place] < 0:
        return None, None
    stored, wanted = candidate.tensors[ours.inputs[place]], _constant(reference, theirs.inputs[place])
    given = affine(candidate.tensors[ours.inputs[_INPUT_PLACE.get(ours.type, 0)]])
    weights = candidate.tensors[ours.inputs[1]]
    scales = affine(weights).scales
    if wanted is None or stored.dtype not in ("int32", "int64") or len(given.scales) != 1 or not wanted.size:
        return None, None
    steps = np.asarray(scales, np.float64) * given.scales[0]
    if len(steps) not in (1, wanted.size):
        return None, None
    most = float(np.abs(wanted.astype(np.float64).ravel() / steps).max())
    fan_in = math.prod(weights.shape) // max(1, weights.shape[_CHANNEL_AXIS[ours.type]])
    room = _INT32 - (127 * 255 * fan_in if stored.dtype == "int32" else 0)
    return most, float(max(room, 0))
