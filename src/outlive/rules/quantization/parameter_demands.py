"""Scales and zero points against what kernels do with them.

Sources: LiteRT, tflite/core/interpreter_builder.cc (ParseQuantization), tflite/kernels/*.cc (Prepare),
tflite/kernels/internal/quantization_util.cc (multipliers that abort),
tflite/delegates/xnnpack/xnnpack_delegate.cc (CheckAffineQuantization). Which operators
die of what was tried on LiteRT.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from outlive.model import Quantization, Tensor
from outlive.rules.operator.prepared import PreparedOperator

NARROW: Mapping[str, tuple[int, int]] = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "int4": (-8, 7),
    "uint4": (0, 15),
}
# FLT_MIN: below it a float has lost digits, and XNNPACK refuses it as a scale.
_LEAST_SCALE = 2.0**-126
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
_WEIGHTS = {"CONV_2D": "i1", "DEPTHWISE_CONV_2D": "i1", "FULLY_CONNECTED": "i1", "TRANSPOSE_CONV": "i1"}
_SOURCE = {"TRANSPOSE_CONV": "i2"}

# Slots whose scale must be a positive number, or the runtime refuses or aborts.
_SCALED: Mapping[str, tuple[str, ...]] = {
    "ADD": ("i0", "i1", "o0"),
    "SUB": ("i0", "i1", "o0"),
    "SQUARED_DIFFERENCE": ("i0", "i1", "o0"),
    "LOGISTIC": ("i0", "o0"),
    "TANH": ("i0", "o0"),
    "ELU": ("i0", "o0"),
    "QUANTIZE": ("i0", "o0"),
    "DEQUANTIZE": ("i0",),
    "BATCH_MATMUL": ("i0", "i1", "o0"),
    "SOFTMAX": ("o0",),
    "LOG_SOFTMAX": ("o0",),
    "L2_NORMALIZATION": ("o0",),
    **dict.fromkeys(_COMPARISONS, ("i0", "i1")),
    **dict.fromkeys(_LAYERS, ("i0", "i1", "o0")),
    "TRANSPOSE_CONV": ("i1", "i2", "o0"),
    "MEAN": ("i0", "o0"),
    "SUM": ("i0", "o0"),
    "TRANSPOSE": ("i0", "o0"),
    "MAX_POOL_2D": ("i0", "o0"),
    "STRIDED_SLICE": ("i0", "o0"),
    "RESIZE_BILINEAR": ("i0", "o0"),
    "SPLIT": ("i1", "o0", "o1", "o2", "o3"),
    "CONCATENATION": ("i0", "i1", "i2", "i3", "o0"),
}
# Types that are copied without being scaled anew.
_COPIED: Mapping[str, tuple[str, ...]] = {
    "CONCATENATION": ("int8",),
    "PACK": ("int8", "uint8"),
    "UNPACK": ("int8", "uint8"),
}
# XNNPACK leaves int16 alone, and the kernels of the others compute with whatever it is.
_SCALED_INT16: Mapping[str, tuple[str, ...]] = {
    "ADD": ("i0", "i1", "o0"),
    "SUB": ("i0", "i1", "o0"),
    "LOGISTIC": ("o0",),
    "TANH": ("o0",),
    "SOFTMAX": ("o0",),
}
# Older kernels that compute on with any parameters.
_UNHARMED = frozenset({("CONCATENATION", "uint8"), ("SOFTMAX", "uint8"), ("MUL", "uint8")})
# Slots that must have parameters at all.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "ADD": ("i0", "i1", "o0"),
    "SUB": ("i0", "i1"),
    "SQUARED_DIFFERENCE": ("i0", "i1", "o0"),
    "FULLY_CONNECTED": ("i0",),
    "LOGISTIC": ("o0",),
    "SOFTMAX": ("o0",),
    "LOG_SOFTMAX": ("o0",),
    "L2_NORMALIZATION": ("o0",),
    "QUANTIZE": ("o0",),
    "LOG": ("i0", "o0"),
    "RSQRT": ("i0", "o0"),
    "ABS": ("i0", "o0"),
    **dict.fromkeys(_COMPARISONS, ("i0", "i1")),
    "CONV_2D": ("i0", "i1"),
    "DEPTHWISE_CONV_2D": ("i0", "i1"),
    "TRANSPOSE_CONV": ("i1", "i2"),
}
# Without any parameters these take int16 as plain numbers.
_PLAIN_INT16 = frozenset({"ADD", "MUL", "ABS", *_COMPARISONS})
# Operators that XNNPACK or their own kernel refuses if a zero point is no number of the type.
_CENTRED = frozenset({*_SCALED, "MUL", "HARD_SWISH"}) - frozenset(_COMPARISONS)
# int16 is symmetric for these: TF_LITE_ENSURE_EQ(zero_point, 0).
_SYMMETRIC_INT16 = frozenset(
    [
        "ADD",
        "SUB",
        "MUL",
        "RELU",
        "RELU6",
        "LEAKY_RELU",
        "LOGISTIC",
        "TANH",
        "SOFTMAX",
        "QUANTIZE",
        "DEQUANTIZE",
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "FULLY_CONNECTED",
        "CONCATENATION",
    ]
)
# What the output must be, by type: scale and zero point.
_FIXED: Mapping[str, Mapping[str, tuple[float, int]]] = {
    "SOFTMAX": {"int8": (1 / 256, -128), "int16": (1 / 32768, 0)},
    "LOG_SOFTMAX": {"int8": (16 / 256, 127), "uint8": (16 / 256, 255)},
    "L2_NORMALIZATION": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)},
}
# As far as kernels let it differ: tflite/kernels/activations.cc.
_CLOSE = 1e-3


def is_sound(scale: float) -> bool:
    """True if a scale is a positive, normal number."""
    return math.isfinite(scale) and scale >= _LEAST_SCALE


def _affine(tensor: Tensor | None) -> Quantization | None:
    found = None if tensor is None else tensor.quantization
    return (
        found if found is not None and found.kind in ("per-tensor", "per-channel") and found.scales else None
    )


def narrow_slots(op: PreparedOperator) -> Iterator[tuple[str, Tensor]]:
    """The slots that hold small integers; not the weights of layers that compute on floats."""
    if op.operator.type in _LAYERS and op.dtype(_SOURCE.get(op.operator.type, "i0")) not in NARROW:
        return
    for word in ("i*", "o*"):
        for slot in op.slots(word):
            tensor = op.tensor(slot)
            if tensor is not None and tensor.dtype in NARROW:
                yield slot, tensor


def scale_faults(op: PreparedOperator) -> Iterator[str]:
    """Scales that the runtime dies of, in words."""
    for slot, tensor in narrow_slots(op):
        found = _affine(tensor)
        if found is None or not _is_fatal(op, slot, tensor):
            continue
        wrong = [scale for scale in found.scales if not is_sound(scale)]
        # A channel of weights that are all zero has a scale of zero.
        if slot == _WEIGHTS.get(op.operator.type) or (op.operator.type, slot) == ("SUB", "o0"):
            wrong = [scale for scale in wrong if not math.isfinite(scale) or scale < 0]
        if wrong:
            yield f"{op.describe(slot)} has scale {wrong[0]:g}"
    yield from _multiplier(op)
    yield from (fact for fact, cause in unequal(op) if cause == "quant-scale-invalid")
    yield from _fixed_scale(op)


def _is_fatal(op: PreparedOperator, slot: str, tensor: Tensor) -> bool:
    if (op.operator.type, tensor.dtype) in _UNHARMED:
        return False
    wide = "int16" in (tensor.dtype, op.dtype("i0"))
    table = _SCALED_INT16 if wide else _SCALED
    return slot in table.get(op.operator.type, ())


def odd_scales(op: PreparedOperator) -> Iterator[str]:
    """Scales that are no numbers and that the runtime lives with, in words."""
    for slot, tensor in narrow_slots(op):
        found = _affine(tensor)
        if found is None or _is_fatal(op, slot, tensor):
            continue
        wrong = [scale for scale in found.scales if not math.isfinite(scale) or scale < 0]
        if wrong:
            yield f"{op.describe(slot)} has scale {wrong[0]:g}"


def _multiplier(op: PreparedOperator) -> Iterator[str]:
    """add.cc, squared_difference.cc: the output may not be more than 2^19 times finer than the inputs."""
    if op.operator.type not in ("ADD", "SQUARED_DIFFERENCE"):
        return
    rows = [_affine(op.tensor(slot)) for slot in ("i0", "i1", "o0")]
    if op.dtype("o0") not in ("int8", "uint8") or any(row is None or len(row.scales) != 1 for row in rows):
        return
    left, right, out = (row.scales[0] for row in rows if row is not None)
    if not all(map(is_sound, (left, right, out))):
        return
    square = op.operator.type == "SQUARED_DIFFERENCE"
    coarse = 2 * max(left, right)
    multiplier = coarse * coarse / ((1 << 14) * out) if square else coarse / ((1 << 20) * out)
    if multiplier >= 1:
        yield f"{op.describe('o0')} has scale {out:g}; too small for input scales of {max(left, right):g}"


def unequal(op: PreparedOperator) -> Iterator[tuple[str, str]]:
    """Parameters that differ where integers are copied as they are, and the cause.

    Sources: tflite/kernels/concatenation.cc, pack.cc, unpack.cc.
    """
    dtype = op.dtype("o0")
    if dtype not in _COPIED.get(op.operator.type, ()):
        return
    whole = _parameters(op, "o0")
    slots = [slot for word in ("i*", "o*") for slot in op.slots(word) if op.dtype(slot) == dtype]
    for slot in slots:
        found = _parameters(op, slot)
        if found != whole:
            words = f"{op.describe(slot)} has {_words(found)}"
            yield f"{words}; the output has {_words(whole)}, and both must agree", _difference(found, whole)
            return


def _difference(found: tuple[float, int] | None, whole: tuple[float, int] | None) -> str:
    if found is None or whole is None:
        return "quant-params-missing"
    return "quant-scale-invalid" if found[0] != whole[0] else "quant-zero-point-out-of-range"


def _parameters(op: PreparedOperator, slot: str) -> tuple[float, int] | None:
    found = _affine(op.tensor(slot))
    return None if found is None or not found.zero_points else (found.scales[0], found.zero_points[0])


def _words(found: tuple[float, int] | None) -> str:
    return "no parameters" if found is None else f"scale {found[0]:g} and zero point {found[1]}"


def _fixed(op: PreparedOperator) -> tuple[float, int] | None:
    """What the output must be, where the kernel insists; not where it widens int8 to int16."""
    dtype = op.dtype("o0")
    return _FIXED.get(op.operator.type, {}).get(dtype) if op.dtype("i0") == dtype else None


def _fixed_scale(op: PreparedOperator) -> Iterator[str]:
    wanted = _fixed(op)
    found = _affine(op.tensor("o0"))
    if wanted is None or found is None or len(found.scales) != 1 or not is_sound(found.scales[0]):
        return
    if abs(found.scales[0] - wanted[0]) > _CLOSE * wanted[0]:
        yield f"{op.describe('o0')} has scale {found.scales[0]:g}; the kernel uses {wanted[0]:g}"


def _is_bare(tensor: Tensor) -> bool:
    """NoQuantization: the runtime takes parameters without a scale for none."""
    found = tensor.quantization
    return found is None or (found.kind in ("per-tensor", "per-channel", "range-only") and not found.scales)


def missing_parameters(op: PreparedOperator) -> Iterator[str]:
    """Slots of small integers without the parameters their kernel needs, in words."""
    yield from (fact for fact, cause in unequal(op) if cause == "quant-params-missing")
    kind, first = op.operator.type, op.tensor("i0")
    # add.cc asks the first input alone whether int16 is quantized.
    if kind in _PLAIN_INT16 and first is not None and first.dtype == "int16" and _is_bare(first):
        return
    needed = _NEEDED.get(kind, ())
    rows = [item for item in narrow_slots(op) if (kind, item[1].dtype) not in _UNHARMED]
    bare = [slot for slot, tensor in rows if slot in needed and _is_bare(tensor)]
    for slot in bare:
        yield f"{op.describe(slot)} is {op.dtype(slot)} without scale and zero point"


def zero_point_faults(op: PreparedOperator) -> Iterator[str]:
    """Zero points that the runtime refuses or dies of, in words."""
    kind = op.operator.type
    if kind not in _CENTRED and kind not in _SYMMETRIC_INT16:
        return
    fixed = _fixed(op)
    yield from (fact for fact, cause in unequal(op) if cause == "quant-zero-point-out-of-range")
    for slot, tensor in narrow_slots(op):
        found = _affine(tensor)
        symmetric = tensor.dtype == "int16" and kind in _SYMMETRIC_INT16
        centred = kind in _CENTRED and op.dtype("i0") != "int16" and (kind, tensor.dtype) not in _UNHARMED
        # Weights of integers are centred, and kernels take them for that.
        weights = slot == _WEIGHTS.get(kind)
        if found is None or weights or not (symmetric or centred):
            continue
        low, high = (0, 0) if symmetric and not _widens(op) else NARROW[tensor.dtype]
        wrong = [point for point in found.zero_points if not low <= point <= high]
        if wrong:
            span = "0" if low == high else f"{low} to {high}"
            yield f"{op.describe(slot)} has zero point {wrong[0]}; {tensor.dtype} needs {span}"
        elif slot == "o0" and fixed is not None and found.zero_points[:1] not in ((), fixed[1:]):
            point = found.zero_points[0]
            yield f"{op.describe(slot)} has zero point {point}; the kernel uses {fixed[1]}"


def _widens(op: PreparedOperator) -> bool:
    """quantize.cc and softmax.cc insist on symmetric int16 only if both ends are of it."""
    ends = {op.dtype("i0"), op.dtype("o0")}
    return op.operator.type in ("QUANTIZE", "SOFTMAX") and ends != {"int16"}


def bias_faults(op: PreparedOperator) -> Iterator[str]:
    """Biases that are not scaled as input times weights, in words."""
    if op.operator.type not in _LAYERS:
        return
    source = _affine(op.tensor(_SOURCE.get(op.operator.type, "i0")))
    weights, bias_slot = (
        _affine(op.tensor("i1")),
        "i3" if op.operator.type == "TRANSPOSE_CONV" else "i2",
    )
    bias = _affine(op.tensor(bias_slot))
    if source is None or weights is None or bias is None or len(source.scales) != 1:
        return
    if op.dtype(bias_slot) not in ("int32", "int64") or len(bias.scales) not in (1, len(weights.scales)):
        return
    pairs = list(zip(weights.scales, bias.scales * (len(weights.scales) // len(bias.scales)), strict=False))
    for channel, (weight, found) in enumerate(pairs):
        product = weight * source.scales[0]
        if math.isfinite(found) and is_sound(product) and abs(found - product) > 0.02 * product:
            words = op.describe(bias_slot)
            yield f"{words} has scale {found:g} in channel {channel}; input times weights is {product:g}"
            return
