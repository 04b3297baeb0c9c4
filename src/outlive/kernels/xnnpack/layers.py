"""Which convolutions, products and poolings the delegate takes: Visit...Node of xnnpack_delegate.cc."""

from outlive.kernels.xnnpack import checks
from outlive.kernels.xnnpack.checks import DelegateView, affine, datatype, require, scale_and_zero
from outlive.model import Tensor
from outlive.units import count_elements

_DYNAMIC_FILTERS = ("int8", "int4", "int2")
_OTHER_TYPES = "input and output are of different types"


def conv_2d(view: DelegateView) -> None:
    """VisitConv2DNode."""
    checks.positive(view, "stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor")
    data, kernel = _weighted(view, axis=0, dynamic=True)
    fits = view.shape(data)[3] >= view.shape(kernel)[3]
    require(fits, "the weights have more channels than the input")
    checks.activation(view)


def depthwise_conv_2d(view: DelegateView) -> None:
    """VisitDepthwiseConv2DNode."""
    _, kernel = _weighted(view, axis=3, dynamic=False)
    checks.positive(view, "stride_w", "stride_h", "depth_multiplier")
    whole = view.shape(kernel)[3] % view.number("depth_multiplier", 1) == 0
    require(whole, "the channels are no multiple of the depth multiplier")
    checks.positive(view, "dilation_w_factor", "dilation_h_factor")
    checks.activation(view)


def _weighted(view: DelegateView, *, axis: int, dynamic: bool) -> tuple[Tensor, Tensor]:
    """Input, weights and bias of a convolution; gives the first two."""
    checks.counts(view, (3, 3))
    data, kernel, offset = (checks.there(tensor) for tensor in view.inputs)
    made = checks.there(view.output())
    checks.float_or_eight_bits(data)
    checks.dimensions(view, data, 4)
    checks.weights(view, kernel, axis)
    checks.dimensions(view, kernel, 4)
    checks.static(view, kernel, unpacked=True)
    _fixed_bias(view, offset)
    checks.same_floats(view, kernel, offset)
    checks.float_or_eight_bits(made)
    checks.dimensions(view, made, 4)
    require(data.dtype == made.dtype, _OTHER_TYPES)
    hybrid = dynamic and data.dtype == "float32" and kernel.dtype == "int8"
    require(data.dtype == kernel.dtype or hybrid, f"{data.dtype} input with {kernel.dtype} weights")
    return data, kernel


def _fixed_bias(view: DelegateView, offset: Tensor) -> None:
    checks.bias(view, offset)
    checks.dimensions(view, offset, 1)
    checks.static(view, offset, unpacked=True)


def fully_connected(view: DelegateView) -> None:
    """VisitFullyConnectedNode, with weights that must be constants (the default of the wheels)."""
    require(view.operator.version != 8, "version 8 of the operator")
    require(view.option("weights_format", "DEFAULT") == "DEFAULT", "shuffled weights")
    checks.counts(view, (2, 3))
    data, kernel = checks.there(view.input(0)), checks.there(view.input(1))
    offset, made = view.input(2), checks.there(view.output())
    checks.float_or_eight_bits(data)
    checks.dimensions(view, kernel, 2)
    checks.filter_of_fully_connected(view, kernel)
    checks.static(view, kernel, unpacked=True)
    if offset is not None:
        fits = count_elements(view.shape(offset)) == view.shape(kernel)[0]
        require(fits, "the bias has another number of channels")
        checks.bias(view, offset)
        checks.static(view, offset, unpacked=True)
        checks.same_floats(view, kernel, offset)
    checks.float_or_eight_bits(made)
    _product(view, data, kernel, made)
    checks.activation(view)


def _product(view: DelegateView, data: Tensor, kernel: Tensor, made: Tensor) -> None:
    require(data.dtype == made.dtype, _OTHER_TYPES)
    dynamic = data.dtype in ("float32", "float16") and kernel.dtype in _DYNAMIC_FILTERS
    fixed = data.dtype == "int8" and kernel.dtype in _DYNAMIC_FILTERS
    fits = data.dtype == kernel.dtype or dynamic or fixed
    require(fits, f"{data.dtype} input with {kernel.dtype} weights")
    centred = dynamic or kernel.dtype != "int8" or scale_and_zero(kernel)[1] == 0
    require(centred, "the weights have a zero point")
    multiple = {"int4": 2, "int2": 4}.get(kernel.dtype, 1)
    require(view.shape(kernel)[1] % multiple == 0, f"{kernel.dtype} weights with odd rows")


def batch_matmul(view: DelegateView) -> None:
    """VisitBatchMatMulNode."""
    left, right = view.input(0), view.input(1)
    require(left is not None and right is not None, "an input is left out")
    left, right = checks.there(left), checks.there(right)
    ranks = len(view.shape(left)), len(view.shape(right))
    checks.float_or_eight_bits(left)
    checks.weights(view, right, ranks[1] - (2 if view.option("adj_y", False) else 1))
    quantization = affine(right)
    if right.dtype == "int8" and left.dtype != "float32" and quantization is not None:
        require(not (quantization.zero_points or (0,))[0], "the second factor has a zero point")
    checks.float_or_eight_bits(view.output())
    hybrid = left.dtype == "float32" and right.dtype == "int8"
    same = datatype(left, view.shape(left)) == datatype(right, view.shape(right))
    require(hybrid or same, "the factors are of different types")
    require(min(ranks) >= 2, "a factor is no matrix")


def transpose_conv(view: DelegateView) -> None:
    """VisitTransposeConvNode."""
    target, kernel, data, offset = (view.input(position) for position in range(4))
    checks.counts(view, (3, 4))
    checks.is_int32(target)
    checks.vector(view, target)
    checks.static(view, target)
    checks.dimensions(view, kernel, 4)
    checks.static(view, kernel, unpacked=True)
    checks.float_or_eight_bits(data, half=False)
    checks.dimensions(view, data, 4)
    checks.weights(view, kernel, 0)
    if offset is not None:
        _fixed_bias(view, offset)
    checks.float_or_eight_bits(view.output(), half=False)
    checks.dimensions(view, view.output(), 4)
    _enlarged(view, checks.there(kernel), checks.there(data))
    checks.activation(view)


def _enlarged(view: DelegateView, kernel: Tensor, data: Tensor) -> None:
    """CalculateTransposeConvPaddings, and the channels."""
    target = checks.integers(view.input(0)) or ()
    require(len(target) == 4, "its output shape is no constant of 4 numbers")
    given, taps = view.shape(data), view.shape(kernel)
    require(taps[0] == target[3] and taps[3] == given[3], "the channels do not match")
    strides = view.number("stride_h"), view.number("stride_w")
    require(min(strides) > 0, "a stride is not positive")
    if view.option("padding", "SAME") == "VALID":
        fits = taps[1] <= target[1] and taps[2] <= target[2]
        return require(fits, "the output is smaller than the kernel")
    expected = tuple(-(-size // stride) for size, stride in zip(target[1:3], strides, strict=True))
    fits = expected == given[1:3] and taps[1] >= strides[0] and taps[2] >= strides[1]
    require(fits, "the sizes do not match")


def average_pool_2d(view: DelegateView) -> None:
    """VisitAveragePool2DNode."""
    checks.counts(view, (1, 1))
    checks.is_float(view.input(0), view.output())
    _pooling(view)


def max_pool_2d(view: DelegateView) -> None:
    """VisitMaxPool2DNode."""
    checks.counts(view, (1, 1))
    checks.float_or_eight_bits(view.input(0), half=False)
    checks.float_or_eight_bits(view.output())
    _pooling(view)


def _pooling(view: DelegateView) -> None:
    checks.positive(view, "stride_w", "stride_h", "filter_width", "filter_height")
    width, height = view.number("filter_width"), view.number("filter_height")
    across, down = view.number("stride_w"), view.number("stride_h")
    require(across <= width and down <= height, "a stride exceeds the window")
    alone = width == height == 1 and max(across, down) > 1
    require(not alone, "a window of one with strides")
    checks.activation(view)


def attention(view: DelegateView) -> None:
    """VisitDotAttentionNode."""
    checks.is_float32(*view.inputs, view.output())
    require(len(view.inputs) >= 3, "it has too few inputs")
    depths = {view.shape(tensor)[-1:] for tensor in view.inputs[:3] if tensor is not None}
    require(len(depths) == 1, "query, key and value differ in depth")


def deconvolution(view: DelegateView) -> None:
    """VisitMediaPipeDeconvolutionNode."""
    data, kernel, offset = (view.input(position) for position in range(3))
    checks.counts(view, (3, 3))
    checks.is_float32(data, kernel, offset, view.output())
    checks.dimensions(view, data, 4)
    checks.dimensions(view, kernel, 4)
    checks.dimensions(view, offset, 1)
    checks.static(view, kernel, offset, unpacked=True)
    checks.dimensions(view, view.output(), 4)


def pool_with_indices(view: DelegateView) -> None:
    """VisitMediaPipeMaxPoolingNode, VisitMediaPipeUnpoolingNode."""
    inputs, outputs = (1, 2) if view.operator.custom_name == "MaxPoolingWithArgmax2D" else (2, 1)
    checks.counts(view, (inputs, inputs), (outputs, outputs))
    checks.is_float32(view.input(0), view.output())
    checks.dimensions(view, view.input(0), 4)
    checks.dimensions(view, view.output(), 4)
