"""What kernels take from the heap by themselves when they run: unpacked weights, lists of candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlive.arena.builtin.heap import sparse_bytes
from outlive.kernels.flexbuffers import read_options
from outlive.kernels.litert.temporaries.filling import Unprepared
from outlive.kernels.litert.temporaries.fully_connected import packed_weights_bytes
from outlive.kernels.litert.temporary import Situation
from outlive.units import count_elements

_PACKED_TYPES = ("int4", "uint4", "int2")
# Per box: its best score, room to sort by it, a flag. Per box kept, of which there are at most as many: its
# score and its place, in vectors that double; what these had before stays behind, and holds their order.
_BYTES_PER_BOX, _BYTES_PER_BOX_KEPT = 9, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Bytes a kernel takes beside its tensors."""

    kept: int = 0  # from its first run on
    once: int = 0  # while it runs for the first time
    each: int = 0  # whenever it runs
    with_small: bool = False  # it takes small pieces meanwhile, which malloc keeps behind its own


def own_of(situation: Situation) -> Own:
    """What an operator's kernel takes by itself."""
    rule = _RULES.get(situation.operator.name)
    try:
        return Own() if rule is None else rule(situation)
    except Unprepared:
        return Own()  # the runtime refuses it before it runs


def _dequantize(situation: Situation) -> Own:
    """A copy of the input, filled with zeros whether it is packed or not: tflite/kernels/dequantize.h."""
    source = situation.input(0)
    if source is None:
        return Own()
    packed = source.dtype in _PACKED_TYPES
    size = (count_elements(situation.shape(source)) or 0) if packed else situation.bytes(source)
    # PerChannelDequantize keeps a place in a vector: tflite/kernels/internal/reference/dequantize.h.
    small = source.quantization is not None and len(source.quantization.scales) > 1
    if situation.constant(source.index):
        return Own(once=size, with_small=small)
    return Own(each=size, with_small=small)


def _densify(situation: Situation) -> Own:
    """Where values go: tflite/kernels/internal/utils/sparsity_format_converter.cc."""
    source = situation.input(0)
    return Own() if source is None else Own(once=sparse_bytes(source))


def _weights(situation: Situation) -> Own:
    """Weights of 4 or 2 bits as bytes: tflite/kernels/conv.cc, fully_connected.cc."""
    weights = situation.input(1)
    if weights is None or weights.dtype not in _PACKED_TYPES:
        return Own()
    return Own(each=count_elements(situation.shape(weights)) or 0)


def _fully_connected(situation: Situation) -> Own:
    """Packed once where the kernel for 4 bits takes them, else unpacked each time."""
    kept = packed_weights_bytes(situation)
    blocks = _blocks(situation)
    if kept or blocks:
        return Own(kept=kept, each=blocks)
    return _weights(situation)


def _blocks(situation: Situation) -> int:
    """Weights with a scale for each block stay as they are; scales become floats, and the input bytes.

    EvalBlockwise4Bit of tflite/kernels/fully_connected.cc.
    """
    source, weights = situation.input(0), situation.input(1)
    given = None if weights is None else weights.quantization
    if source is None or given is None or given.kind != "blockwise" or given.scales_tensor is None:
        return 0
    scales = count_elements(situation.shapes[given.scales_tensor]) or 0
    return 4 * scales + (count_elements(situation.shape(source)) or 0)


def _depthwise(situation: Situation) -> Own:
    """Twice the bytes of the weights, filled with zeros: tflite/kernels/depthwise_conv.cc."""
    source, weights = situation.input(0), situation.input(1)
    if source is None or weights is None or source.dtype != "int8":
        return Own()
    return Own(each=2 * situation.bytes(weights))


def _detection(situation: Situation) -> Own:
    """The classes of each box in order, and boxes to choose from: tflite/kernels/detection_postprocess.cc."""
    scores = situation.input(1)
    shape = () if scores is None else situation.shape(scores)
    if len(shape) != 3:
        return Own()
    options = read_options(situation.operator.custom_options)
    classes = 0 if options.get("use_regular_nms") else min(shape[2], options.get("num_classes", shape[2]))
    kept = 1 << (shape[1] - 1).bit_length() if shape[1] > 0 else 0
    return Own(each=shape[1] * (4 * classes + _BYTES_PER_BOX) + kept * _BYTES_PER_BOX_KEPT)


_RULES: dict[str, Callable[[Situation], Own]] = {
    "CONV_2D": _weights,
    "DENSIFY": _densify,
    "DEPTHWISE_CONV_2D": _depthwise,
    "DEQUANTIZE": _dequantize,
    "FULLY_CONNECTED": _fully_connected,
    "TFLite_Detection_PostProcess": _detection,
}
