"""Which elementwise operators the delegate takes: Visit...Node of xnnpack_delegate.cc."""

from __future__ import annotations

import math

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.datatypes import Sight, affine, datatype, scale_and_zero
from outlive.model import Tensor

_SUM_SCALES = (1 / 1024, 256.0)
_PRODUCT_SCALES = (1 / 65536, 256.0)


def unary_float(sight: Sight) -> str:
    """VisitUnaryNode, for operators on floats."""
    return (
        checks.counts(sight, (1, 1))
        or checks.any_rank(sight, sight.input(0))
        or checks.is_float(sight.input(0), sight.output())
    )


def unary(sight: Sight) -> str:
    """VisitUnaryNode: LOGISTIC, TANH."""
    return (
        checks.counts(sight, (1, 1))
        or checks.any_rank(sight, sight.input(0))
        or checks.float_or_eight_bits(sight.input(0), sight.output())
    )


def elu(sight: Sight) -> str:
    """VisitUnaryNode: ELU takes signed bytes only."""
    return (
        checks.counts(sight, (1, 1))
        or checks.any_rank(sight, sight.input(0))
        or checks.float_or_eight_bits(sight.input(0), sight.output(), unsigned=False)
    )


def dequantize(sight: Sight) -> str:
    """VisitUnaryNode: DEQUANTIZE."""
    return (
        checks.counts(sight, (1, 1))
        or checks.any_rank(sight, sight.input(0))
        or checks.eight_bits(sight.input(0))
        or checks.is_float(sight.output())
    )


def quantize(sight: Sight) -> str:
    """VisitUnaryNode: QUANTIZE, from floats or between bytes of one kind."""
    given, made = sight.input(0), sight.output()
    reason = unary(sight)
    if reason or given is None or made is None or given.dtype in ("float32", "float16"):
        return reason
    if datatype(given, sight.shape(given)) != datatype(made, sight.shape(made)):
        return f"{given.dtype} to {made.dtype}"
    return _ratio(given, made, 1 / 256, 128.0, closed=True)


def leaky_relu(sight: Sight) -> str:
    """VisitUnaryNode: LEAKY_RELU."""
    given, made = sight.input(0), sight.output()
    reason = unary(sight)
    if reason or given is None or made is None:
        return reason
    alpha = checks.option(sight, "alpha", 0.0)
    if not isinstance(alpha, float) or not math.isfinite(alpha) or abs(alpha) < 2.0**-126:
        return f"slope {alpha}"
    if affine(given) is None or affine(made) is None:
        return ""
    ratio = _ratio(given, made, 1 / 256, 128.0, closed=True)
    negative = scale_and_zero(given)[0] / (scale_and_zero(made)[0] or 1.0) * alpha
    fits = -127.99609375 <= negative <= 128.0 and abs(negative) >= 1 / 256
    return ratio or ("" if fits else "the slope is out of range")


def _ratio(given: Tensor, made: Tensor, low: float, high: float, *, closed: bool = False) -> str:
    if given.dtype != made.dtype or given.dtype not in ("int8", "uint8"):
        return ""
    bottom = scale_and_zero(made)[0]
    ratio = scale_and_zero(given)[0] / bottom if bottom else math.inf
    fits = low <= ratio < high or (closed and ratio == high)
    return "" if fits else f"the scales of input and output differ by a factor of {ratio:.3g}"


def add_or_sub(sight: Sight) -> str:
    """VisitBinaryNode: ADD, SUB."""
    first, second, made = sight.input(0), sight.input(1), sight.output()
    reason = _pair(sight)
    if reason or first is None or second is None or made is None:
        return reason
    return _ratio(first, made, *_SUM_SCALES) or _ratio(second, made, *_SUM_SCALES) or checks.activation(sight)


def multiply(sight: Sight) -> str:
    """VisitBinaryNode: MUL."""
    first, second, made = sight.input(0), sight.input(1), sight.output()
    reason = _pair(sight)
    if reason or first is None or second is None or made is None:
        return reason
    if first.dtype in ("int8", "uint8"):
        bottom = scale_and_zero(made)[0]
        ratio = scale_and_zero(first)[0] * scale_and_zero(second)[0] / bottom if bottom else math.inf
        if not _PRODUCT_SCALES[0] <= ratio < _PRODUCT_SCALES[1]:
            return f"the scales of inputs and output differ by a factor of {ratio:.3g}"
    return checks.activation(sight)


def _pair(sight: Sight) -> str:
    tensors = sight.input(0), sight.input(1), sight.output()
    reason = (
        checks.counts(sight, (2, 2))
        or checks.any_rank(sight, *tensors[:2])
        or checks.float_or_eight_bits(*tensors)
    )
    kinds = {tensor.dtype for tensor in tensors if tensor is not None}
    return reason or ("" if len(kinds) == 1 else "the tensors are of different types")


def binary_float(sight: Sight) -> str:
    """VisitBinaryNode: DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE."""
    tensors = sight.input(0), sight.input(1), sight.output()
    return (
        checks.counts(sight, (2, 2))
        or checks.any_rank(sight, *tensors[:2])
        or checks.is_float(*tensors)
        or (checks.activation(sight) if sight.operator.type == "DIV" else "")
    )


def prelu(sight: Sight) -> str:
    """VisitBinaryNode: PRELU."""
    return binary_float(sight) or checks.static(sight, sight.input(1), unpacked=True)


def softmax(sight: Sight) -> str:
    """VisitSoftmaxNode."""
    if checks.option(sight, "beta", 0.0) != 1.0:
        return "beta is not 1"
    return checks.counts(sight, (1, 1)) or checks.is_float(sight.input(0), sight.output())
