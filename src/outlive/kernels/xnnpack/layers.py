"""Which convolutions, products and poolings the delegate takes: Visit...Node of xnnpack_delegate.cc."""

from __future__ import annotations

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.datatypes import Sight, affine, datatype, scale_and_zero
from outlive.model import Tensor

_DYNAMIC_FILTERS = ("int8", "int4", "int2")


def conv_2d(sight: Sight) -> str:
    """VisitConv2DNode."""
    return (
        checks.positive(sight, "stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor")
        or checks.counts(sight, (3, 3))
        or _layer(sight, sight.input(0), sight.input(1), sight.input(2), axis=0)
        or _matching(sight, dynamic=True)
        or _groups(sight)
        or checks.activation(sight)
    )


def depthwise_conv_2d(sight: Sight) -> str:
    """VisitDepthwiseConv2DNode."""
    return (
        checks.counts(sight, (3, 3))
        or _layer(sight, sight.input(0), sight.input(1), sight.input(2), axis=3)
        or _matching(sight, dynamic=False)
        or checks.positive(sight, "stride_w", "stride_h", "depth_multiplier")
        or _divisible(sight)
        or checks.positive(sight, "dilation_w_factor", "dilation_h_factor")
        or checks.activation(sight)
    )


def _layer(sight: Sight, data: Tensor | None, kernel: Tensor | None, offset: Tensor | None, axis: int) -> str:
    return (
        checks.float_or_eight_bits(data)
        or checks.dimensions(sight, data, 4)
        or checks.weights(sight, kernel, axis)
        or checks.dimensions(sight, kernel, 4)
        or checks.static(sight, kernel, unpacked=True)
        or checks.bias(sight, offset)
        or checks.dimensions(sight, offset, 1)
        or checks.static(sight, offset, unpacked=True)
        or checks.same_floats(sight, kernel, offset)
        or checks.float_or_eight_bits(sight.output())
        or checks.dimensions(sight, sight.output(), 4)
    )


def _matching(sight: Sight, *, dynamic: bool) -> str:
    data, kernel, made = sight.input(0), sight.input(1), sight.output()
    if data is None or kernel is None or made is None or data.dtype != made.dtype:
        return "input and output are of different types"
    hybrid = dynamic and data.dtype == "float32" and kernel.dtype == "int8"
    return "" if data.dtype == kernel.dtype or hybrid else f"{data.dtype} input with {kernel.dtype} weights"


def _groups(sight: Sight) -> str:
    data, kernel = sight.input(0), sight.input(1)
    if data is None or kernel is None:
        return "a tensor is left out"
    return (
        ""
        if sight.shape(data)[3] >= sight.shape(kernel)[3]
        else "the weights have more channels than the input"
    )


def _divisible(sight: Sight) -> str:
    kernel = sight.input(1)
    channels = sight.shape(kernel)[3] if kernel is not None else 0
    odd = channels % checks.number(sight, "depth_multiplier", 1)
    return "the channels are no multiple of the depth multiplier" if odd else ""


def fully_connected(sight: Sight) -> str:
    """VisitFullyConnectedNode, with weights that must be constants (the default of the wheels)."""
    if sight.operator.version == 8:
        return "version 8 of the operator"
    if checks.option(sight, "weights_format", "DEFAULT") != "DEFAULT":
        return "shuffled weights"
    kernel = sight.input(1)
    return (
        checks.counts(sight, (2, 3))
        or checks.float_or_eight_bits(sight.input(0))
        or checks.dimensions(sight, kernel, 2)
        or checks.filter_of_fully_connected(sight, kernel)
        or checks.static(sight, kernel, unpacked=True)
        or _offset(sight)
        or checks.float_or_eight_bits(sight.output())
        or _product(sight)
        or checks.activation(sight)
    )


def _offset(sight: Sight) -> str:
    offset, kernel = sight.input(2), sight.input(1)
    if offset is None or kernel is None:
        return ""
    elements = 1
    for size in sight.shape(offset):
        elements *= size
    if elements != sight.shape(kernel)[0]:
        return "the bias has another number of channels"
    return (
        checks.bias(sight, offset)
        or checks.static(sight, offset, unpacked=True)
        or checks.same_floats(sight, kernel, offset)
    )


def _product(sight: Sight) -> str:
    data, kernel, made = sight.input(0), sight.input(1), sight.output()
    if data is None or kernel is None or made is None or data.dtype != made.dtype:
        return "input and output are of different types"
    dynamic = data.dtype in ("float32", "float16") and kernel.dtype in _DYNAMIC_FILTERS
    fixed = data.dtype == "int8" and kernel.dtype in _DYNAMIC_FILTERS
    if data.dtype != kernel.dtype and not dynamic and not fixed:
        return f"{data.dtype} input with {kernel.dtype} weights"
    if not dynamic and kernel.dtype == "int8" and scale_and_zero(kernel)[1] != 0:
        return "the weights have a zero point"
    multiple = {"int4": 2, "int2": 4}.get(kernel.dtype, 1)
    return "" if sight.shape(kernel)[1] % multiple == 0 else f"{kernel.dtype} weights with odd rows"


def batch_matmul(sight: Sight) -> str:
    """VisitBatchMatMulNode."""
    left, right, made = sight.input(0), sight.input(1), sight.output()
    if left is None or right is None:
        return "an input is left out"
    axis = len(sight.shape(right)) - (2 if checks.option(sight, "adj_y", False) else 1)
    return (
        checks.float_or_eight_bits(left)
        or checks.weights(sight, right, axis)
        or _zero_point(left, right)
        or checks.float_or_eight_bits(made)
        or _same_datatype(sight, left, right)
        or ("" if min(len(sight.shape(left)), len(sight.shape(right))) >= 2 else "a factor is no matrix")
    )


def _zero_point(left: Tensor, right: Tensor) -> str:
    quantization = affine(right)
    if right.dtype != "int8" or left.dtype == "float32" or quantization is None:
        return ""
    return "the second factor has a zero point" if (quantization.zero_points or (0,))[0] else ""


def _same_datatype(sight: Sight, left: Tensor, right: Tensor) -> str:
    if left.dtype == "float32" and right.dtype == "int8":
        return ""
    kinds = datatype(left, sight.shape(left)), datatype(right, sight.shape(right))
    return "" if kinds[0] == kinds[1] else "the factors are of different types"


def transpose_conv(sight: Sight) -> str:
    """VisitTransposeConvNode."""
    target, kernel, data, offset = (sight.input(position) for position in range(4))
    return (
        checks.counts(sight, (3, 4))
        or checks.is_int32(target)
        or checks.vector(sight, target)
        or checks.static(sight, target)
        or checks.dimensions(sight, kernel, 4)
        or checks.static(sight, kernel, unpacked=True)
        or checks.float_or_eight_bits(data, half=False)
        or checks.dimensions(sight, data, 4)
        or checks.weights(sight, kernel, 0)
        or (_fixed_bias(sight, offset) if offset is not None else "")
        or checks.float_or_eight_bits(sight.output(), half=False)
        or checks.dimensions(sight, sight.output(), 4)
        or _enlarged(sight)
        or checks.activation(sight)
    )


def _fixed_bias(sight: Sight, offset: Tensor) -> str:
    return (
        checks.bias(sight, offset)
        or checks.dimensions(sight, offset, 1)
        or checks.static(sight, offset, unpacked=True)
    )


def _enlarged(sight: Sight) -> str:
    """CalculateTransposeConvPaddings, and the channels."""
    target, kernel, data = checks.integers(sight.input(0)), sight.input(1), sight.input(2)
    if target is None or len(target) != 4 or kernel is None or data is None:
        return "its output shape is no constant of 4 numbers"
    given, taps = sight.shape(data), sight.shape(kernel)
    if taps[0] != target[3] or taps[3] != given[3]:
        return "the channels do not match"
    strides = checks.number(sight, "stride_h"), checks.number(sight, "stride_w")
    if min(strides) <= 0:
        return "a stride is not positive"
    if checks.option(sight, "padding", "SAME") == "VALID":
        return (
            "" if taps[1] <= target[1] and taps[2] <= target[2] else "the output is smaller than the kernel"
        )
    expected = tuple(-(-size // stride) for size, stride in zip(target[1:3], strides, strict=True))
    if expected != given[1:3] or taps[1] < strides[0] or taps[2] < strides[1]:
        return "the sizes do not match"
    return ""


def average_pool_2d(sight: Sight) -> str:
    """VisitAveragePool2DNode."""
    return (
        checks.counts(sight, (1, 1))
        or checks.is_float(sight.input(0), sight.output())
        or _pooling(sight)
        or checks.activation(sight)
    )


def max_pool_2d(sight: Sight) -> str:
    """VisitMaxPool2DNode."""
    return (
        checks.counts(sight, (1, 1))
        or checks.float_or_eight_bits(sight.input(0), half=False)
        or checks.float_or_eight_bits(sight.output())
        or _pooling(sight)
        or checks.activation(sight)
    )


def _pooling(sight: Sight) -> str:
    reason = checks.positive(sight, "stride_w", "stride_h", "filter_width", "filter_height")
    if reason:
        return reason
    width, height = checks.number(sight, "filter_width"), checks.number(sight, "filter_height")
    across, down = checks.number(sight, "stride_w"), checks.number(sight, "stride_h")
    if across > width or down > height:
        return "a stride exceeds the window"
    return "a window of one with strides" if width == height == 1 and max(across, down) > 1 else ""
