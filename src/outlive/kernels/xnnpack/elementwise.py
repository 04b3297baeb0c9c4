"""Which elementwise operators the delegate takes: Visit...Node of xnnpack_delegate.cc."""

import math

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.checks import DelegateView, affine, datatype, require, scale_and_zero
from outlive.model import Tensor

_SUM_SCALES = (1 / 1024, 256.0)
_PRODUCT_SCALES = (1 / 65536, 256.0)


def _one_to_one(view: DelegateView) -> tuple[Tensor, Tensor]:
    checks.counts(view, (1, 1))
    given = checks.there(view.input(0))
    checks.any_rank(view, given)
    return given, checks.there(view.output())


def unary_float(view: DelegateView) -> None:
    """VisitUnaryNode, for operators on floats."""
    checks.is_float(*_one_to_one(view))


def unary(view: DelegateView) -> None:
    """VisitUnaryNode: LOGISTIC, TANH."""
    checks.float_or_eight_bits(*_one_to_one(view))


def elu(view: DelegateView) -> None:
    """VisitUnaryNode: ELU takes signed bytes only."""
    checks.float_or_eight_bits(*_one_to_one(view), unsigned=False)


def dequantize(view: DelegateView) -> None:
    """VisitUnaryNode: DEQUANTIZE."""
    given, made = _one_to_one(view)
    checks.eight_bits(given)
    checks.is_float(made)


def quantize(view: DelegateView) -> None:
    """VisitUnaryNode: QUANTIZE, from floats or between bytes of one kind."""
    given, made = _one_to_one(view)
    checks.float_or_eight_bits(given, made)
    if given.dtype in ("float32", "float16"):
        return
    same = datatype(given, view.shape(given)) == datatype(made, view.shape(made))
    require(same, f"{given.dtype} to {made.dtype}")
    _near_scales(given, made, 1 / 256, 128.0, closed=True)


def leaky_relu(view: DelegateView) -> None:
    """VisitUnaryNode: LEAKY_RELU."""
    given, made = _one_to_one(view)
    checks.float_or_eight_bits(given, made)
    alpha = view.option("alpha", 0.0)
    slope = alpha if isinstance(alpha, float) and math.isfinite(alpha) else 0.0
    require(abs(slope) >= 2.0**-126, f"slope {alpha}")
    if affine(given) is None or affine(made) is None:
        return
    _near_scales(given, made, 1 / 256, 128.0, closed=True)
    negative = scale_and_zero(given)[0] / (scale_and_zero(made)[0] or 1.0) * slope
    fits = -127.99609375 <= negative <= 128.0 and abs(negative) >= 1 / 256
    require(fits, "the slope is out of range")


def _near_scales(given: Tensor, made: Tensor, low: float, high: float, *, closed: bool = False) -> None:
    if given.dtype != made.dtype or given.dtype not in ("int8", "uint8"):
        return
    bottom = scale_and_zero(made)[0]
    ratio = scale_and_zero(given)[0] / bottom if bottom else math.inf
    fits = low <= ratio < high or (closed and ratio == high)
    require(fits, f"the scales of input and output differ by a factor of {ratio:.3g}")


def add_or_sub(view: DelegateView) -> None:
    """VisitBinaryNode: ADD, SUB."""
    first, second, made = _pair(view)
    _near_scales(first, made, *_SUM_SCALES)
    _near_scales(second, made, *_SUM_SCALES)
    checks.activation(view)


def multiply(view: DelegateView) -> None:
    """VisitBinaryNode: MUL."""
    first, second, made = _pair(view)
    if first.dtype in ("int8", "uint8"):
        bottom = scale_and_zero(made)[0]
        ratio = scale_and_zero(first)[0] * scale_and_zero(second)[0] / bottom if bottom else math.inf
        fits = _PRODUCT_SCALES[0] <= ratio < _PRODUCT_SCALES[1]
        require(fits, f"the scales of inputs and output differ by a factor of {ratio:.3g}")
    checks.activation(view)


def _two_to_one(view: DelegateView) -> tuple[Tensor, Tensor, Tensor]:
    checks.counts(view, (2, 2))
    first, second = checks.there(view.input(0)), checks.there(view.input(1))
    checks.any_rank(view, first, second)
    return first, second, checks.there(view.output())


def _pair(view: DelegateView) -> tuple[Tensor, Tensor, Tensor]:
    tensors = _two_to_one(view)
    checks.float_or_eight_bits(*tensors)
    require(len({tensor.dtype for tensor in tensors}) == 1, "the tensors are of different types")
    return tensors


def binary_float(view: DelegateView) -> None:
    """VisitBinaryNode: DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE."""
    checks.is_float(*_two_to_one(view))
    if view.operator.type == "DIV":
        checks.activation(view)


def prelu(view: DelegateView) -> None:
    """VisitBinaryNode: PRELU."""
    binary_float(view)
    checks.static(view, view.input(1), unpacked=True)


def softmax(view: DelegateView) -> None:
    """VisitSoftmaxNode."""
    require(view.option("beta", 0.0) == 1.0, "beta is not 1")
    checks.counts(view, (1, 1))
    checks.is_float(view.input(0), view.output())
