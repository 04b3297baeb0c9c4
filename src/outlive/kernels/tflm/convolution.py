"""Kernels with weights: CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED, BATCH_MATMUL; pooling.

Sources: conv_common.cc, depthwise_conv_common.cc, transpose_conv.cc, fully_connected.cc,
fully_connected_common.cc, batch_matmul.cc, batch_matmul_common.cc, pooling.cc and l2_pool_2d.cc of
tensorflow/lite/micro/kernels.
"""

from outlive.kernels.tflm.abi import int_array_bytes
from outlive.kernels.tflm.checks import (
    activation_range,
    at,
    conv_multiplier,
    conv_quantization,
    single,
    zero_points,
)
from outlive.kernels.tflm.context import TYPE_BYTES, MicroContext, MicroKernel, MicroTensor

HYBRID = "{} input with a {} filter is not supported: hybrid models do not run on TFLM"
_FC_FILTERS = {"float32": ("float32",), "int8": ("int8", "int4"), "int16": ("int8",)}


def conv_2d(k: MicroContext) -> None:
    """CONV_2D: two int32 for each output channel, in float too."""
    output, input, filter = k.output(), k.input(0), k.input(1)
    k.same_type(input, output)
    filters = {"float32": ("float32",), "int16": ("int8",), "int8": ("int4", "int8")}
    k.require(filter.type in filters.get(input.type, ()), HYBRID.format(input.type, filter.type))
    channels = at(k, filter, 0)
    k.keep(4 * channels)
    k.keep(4 * channels)
    if input.type != "float32":
        k.require(filter.quantized, "its filter has no quantization")
        k.require(len(filter.scales) in (1, channels), "its filter's scales do not fit its channels")
    k.counts((2, 3))
    conv_params(k, channels)
    if filter.type == "int4":
        k.scratch(filter.elements)


def conv_params(k: MicroContext, channels: int) -> None:
    """CalculateOpDataConv, CalculateOpDataDepthwiseConv: the tensors are looked at once more."""
    input, filter, bias, output = k.input(0), k.input(1), k.maybe_input(2), k.output()
    if input.type != "float32":
        conv_quantization(k, input, filter, bias, output, channels)


def depthwise_conv_2d(k: MicroContext) -> None:
    """DEPTHWISE_CONV_2D."""
    k.output()
    input, filter = k.input(0), k.input(1)
    channels = at(k, filter, 3)
    k.keep(4 * channels)
    k.keep(4 * channels)
    if input.type == "int8":
        channel_quantization(k, filter, channels)
    fits = input.type == filter.type or (input.type, filter.type) in (("int8", "int4"), ("int16", "int8"))
    k.require(fits, HYBRID.format(input.type, filter.type))
    if filter.type == "int4":
        k.scratch(filter.elements)
    k.counts((2, 3))
    has_bias(k)
    conv_params(k, channels)


def has_bias(k: MicroContext) -> None:
    """DEPTHWISE_CONV_2D gives back a bias that has a place, even where it was left out: TFLM crashes."""
    k.require(
        len(k.operator.inputs) == 2 or k.operator.inputs[2] >= 0, "its bias is left out, but has a place"
    )


def channel_quantization(k: MicroContext, filter: MicroTensor, channels: int) -> None:
    """Refuse a filter whose scales are neither one nor one for each channel."""
    k.require(filter.quantized, "its filter has no quantization")
    # TFLM keeps one zero point for each scale, whatever the file has: no check on their number can fail.
    k.require(len(filter.scales) in (1, channels), "its filter's scales do not fit its channels")


def transpose_conv(k: MicroContext) -> None:
    """TRANSPOSE_CONV: a scratch buffer for the whole output in int8 and int16."""
    output, input, filter = k.output(), k.input(2), k.input(1)
    fits = input.type == filter.type or (input.type, filter.type) == ("int16", "int8")
    k.require(fits, HYBRID.format(input.type, filter.type))
    channels = at(k, filter, 0)
    k.keep(4 * channels)
    k.keep(4 * channels)
    if input.type in ("int8", "int16"):
        k.scratch(output.elements * (4 if input.type == "int8" else 8))
        channel_quantization(k, filter, channels)
    k.counts((3, 4))
    if input.type != "float32":
        transpose_conv_params(k, channels)


def transpose_conv_params(k: MicroContext, channels: int) -> None:
    """CalculateOpData of transpose_conv.cc."""
    input, filter, bias, output = k.input(2), k.input(1), k.maybe_input(3), k.output()
    conv_quantization(k, input, filter, bias, output, channels)
    if input.type == "int16":
        k.one_of(output, "output of an int16 input", "int16")
        if bias is not None and bias.type == "int16":
            k.scratch(8 * bias.elements)


def fully_connected(k: MicroContext) -> None:
    """FULLY_CONNECTED."""
    input, filter, bias, output = k.input(0), k.input(1), k.maybe_input(2), k.output()
    k.same_type(input, output)
    fc_types(k, input, filter)
    if filter.type == "int4":
        k.scratch(filter.elements)
    fc_params(k, input, filter, bias, output, k.fused)


def fc_types(k: MicroContext, input: MicroTensor, filter: MicroTensor) -> None:
    """Refuse the input and filter types FULLY_CONNECTED does not take together."""
    filters = _FC_FILTERS.get(input.type)
    k.require(filters is None or filter.type in filters, HYBRID.format(input.type, filter.type))


def fc_params(
    k: MicroContext,
    input: MicroTensor,
    filter: MicroTensor,
    bias: MicroTensor | None,
    output: MicroTensor,
    activation: str,
) -> None:
    """CalculateOpDataFullyConnected: two int32 for each scale where there are several."""
    if input.type == "float32":
        return
    if len(filter.scales) > 1:
        fits = input.type in ("int8", "int16") and filter.type != "int4"
        k.require(fits, f"{input.type} input with an {filter.type} filter quantized by channel")
        rows = filter.dims[filter.axis] if 0 <= filter.axis < filter.rank else None
        k.require(len(filter.scales) == rows, "its filter's scales do not fit its shape")
        k.keep(4 * len(filter.scales))
        k.keep(4 * len(filter.scales))
    else:
        conv_multiplier(k, input, filter, bias, output.scale)
    k.require(filter.zero_point == 0, f"its filter's zero point is {filter.zero_point}, not 0")
    activation_range(k, output, activation)


def batch_matmul(k: MicroContext) -> None:
    """BATCH_MATMUL: a transposed copy of the right side in the tail, unless it comes transposed."""
    k.counts(2)
    left, right, output = k.input(0), k.input(1), k.output()
    matmul_types(k, left, right, output)
    if left.type in ("int8", "int16"):
        k.keep_struct("QuantizationOpDataBatchMatmul")
    if k.number("adj_x"):
        transposed_copy(k, left)
    if not k.number("adj_y"):
        transposed_copy(k, right)
    if left.type == "int16":
        zero_points(k, 0, left, right, output)
    rank, dims = matmul_dims(k, left, right)
    matmul_output(k, output, rank, dims)


def matmul_types(k: MicroContext, left: MicroTensor, right: MicroTensor, output: MicroTensor) -> None:
    """Types and ranks BATCH_MATMUL takes."""
    k.one_of(left, "left side", "float32", "int8", "int16")
    k.same_type(left, right, "sides")
    k.same_type(left, output)
    for side in (left, right):
        k.require(2 <= side.rank <= 5, f"a side has {side.rank} dimensions, not 2 to 5")


def transposed_copy(k: MicroContext, tensor: MicroTensor) -> None:
    """A whole copy of one side in the tail (AllocInitTransposeTensorFromTfLiteTensor)."""
    k.keep_struct("TfLiteEvalTensor")
    k.keep(int_array_bytes(tensor.rank))
    k.keep(tensor.elements * TYPE_BYTES[tensor.type])


def matmul_dims(k: MicroContext, left: MicroTensor, right: MicroTensor) -> tuple[int, tuple[int, ...]]:
    """The rank and the dims of a product whose sides fit each other."""
    rank = max(left.rank, right.rank)
    a = (1,) * (rank - left.rank) + left.dims
    b = (1,) * (rank - right.rank) + right.dims
    for first, second in zip(a[:-2], b[:-2], strict=True):
        k.require(first == second or 1 in (first, second), "its sides cannot be broadcast to each other")
    rows, depth = (a[-1], a[-2]) if k.number("adj_x") else (a[-2], a[-1])
    other_depth, columns = (b[-1], b[-2]) if k.number("adj_y") else (b[-2], b[-1])
    k.require(depth == other_depth, f"it multiplies over {depth} on one side and {other_depth} on the other")
    batch = tuple(second if first == 1 else first for first, second in zip(a[:-2], b[:-2], strict=True))
    return rank, (*batch, rows, columns)


def matmul_output(k: MicroContext, output: MicroTensor, rank: int, dims: tuple[int, ...]) -> None:
    """ReshapeOutputTensor: dims of its own, which must hold as many elements as the file says."""
    k.require(rank <= output.rank, "its output has too few dimensions")
    before = output.elements
    k.rewrite_dims(output, dims)
    k.require(before == output.elements, "its output has not the elements of the product")


def pooling(k: MicroContext) -> None:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    input, output = k.input(0), k.output()
    k.one_of(input, "input", "float32", "int8", "int16")
    if input.type != "float32":
        near = abs(single(input.scale - output.scale)) <= 1e-6
        k.require(near and input.zero_point == output.zero_point, "input and output differ in quantization")


def l2_pool(k: MicroContext) -> None:
    """L2_POOL_2D: it works out its output's dims itself."""
    k.counts(1)
    output, input = k.output(), k.input(0)
    k.require(input.rank == 4 and output.rank == 4, "input or output has not 4 dimensions")
    k.same_type(input, output)
    k.one_of(input, "input", "float32")
    rows = _window(k, at(k, input, 1), k.number("filter_height"), k.number("stride_h"))
    columns = _window(k, at(k, input, 2), k.number("filter_width"), k.number("stride_w"))
    k.rewrite_dims(output, (input.dims[0], rows, columns, input.dims[3]))


def _window(k: MicroContext, size: int, window: int, stride: int) -> int:
    # ComputeOutSize: kernels/padding.h
    if stride == 0:
        return 0
    same = k.text("padding", "SAME") == "SAME"
    return (size + stride - 1) // stride if same else (size + stride - window) // stride


KERNELS = {
    "AVERAGE_POOL_2D": MicroKernel(pooling),
    "BATCH_MATMUL": MicroKernel(batch_matmul),
    "CONV_2D": MicroKernel(conv_2d),
    "DEPTHWISE_CONV_2D": MicroKernel(depthwise_conv_2d),
    "FULLY_CONNECTED": MicroKernel(fully_connected),
    "L2_POOL_2D": MicroKernel(l2_pool),
    "MAX_POOL_2D": MicroKernel(pooling),
    "TRANSPOSE_CONV": MicroKernel(transpose_conv),
}
