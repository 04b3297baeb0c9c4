"""Kernels of CMSIS-NN on a Cortex-M4: DSP instructions, no MVE, built for speed with gcc.

Sources: tensorflow/lite/micro/kernels/cmsis_nn/*.cc; the buffer sizes are those of CMSIS-NN's
arm_*_get_buffer_size functions at the commit TFLM pins (tables/tflm.json).
"""

from outlive.kernels.tflm import convolution as reference
from outlive.kernels.tflm.arithmetic import add as reference_add
from outlive.kernels.tflm.checks import at, zero_points
from outlive.kernels.tflm.context import TYPE_BYTES, MicroContext, MicroKernel, MicroTensor, is_constant
from outlive.kernels.tflm.elementwise import softmax as reference_softmax
from outlive.kernels.tflm.recurrent import lstm_shapes

_QUANTIZED = ("int8", "int16")
_REVERSE_CHANNELS = 16  # REVERSE_TCOL_EFFICIENT_THRESHOLD: Include/arm_nnsupportfunctions.h


def add(k: MicroContext) -> None:
    """ADD: types are checked more strictly than by the reference kernel."""
    reference_add(k)
    tensors = [k.tensor(index) for index in (*k.operator.inputs[:2], k.operator.outputs[0])]
    first = tensors[0]
    k.require(all(tensor.type == first.type for tensor in tensors), "inputs and output are not of one type")
    k.one_of(first, "input", "float32", "int32", "int16", "int8")
    if first.type == "int16":
        zero_points(k, 0, *tensors)


def conv_2d(k: MicroContext) -> None:
    """CONV_2D: no arrays for float; a buffer for two columns of the input unless the filter is 1x1."""
    input, filter, output = k.input(0), k.input(1), k.output()
    k.maybe_output(2)  # the kernel looks for its bias among the outputs
    k.same_type(input, output)
    _no_hybrid(k, input, filter)
    k.require(input.rank == filter.rank == output.rank == 4, "a tensor has not 4 dimensions")
    k.require(input.dims[0] == output.dims[0], "input and output differ in batch")
    k.require(filter.dims[3] > 0 and input.dims[3] % filter.dims[3] == 0, "its filter does not fit its input")
    if input.type in _QUANTIZED:
        k.keep(4 * filter.dims[0])
        k.keep(4 * filter.dims[0])
    k.counts((2, 3))
    reference.conv_params(k, filter.dims[0])
    if input.type == "int16":
        zero_points(k, 0, input, output)
        k.scratch(4 * input.dims[3] * filter.dims[1] * filter.dims[2])
    elif input.type == "int8":
        _scratch(k, _convolve_bytes(k, input.dims, filter.dims))


def _convolve_bytes(k: MicroContext, input: tuple[int, ...], filter: tuple[int, ...]) -> int:
    # arm_convolve_wrapper_s8_get_buffer_size; the 1xN case asks for the same as the general one.
    padded = _padding(k, input, filter)
    plain = k.number("dilation_w_factor", 1) == 1 and k.number("dilation_h_factor", 1) == 1
    if filter[1:3] == (1, 1) and padded == (0, 0) and plain and input[3] == filter[3]:
        return 0
    return _two_columns(filter[1] * filter[2] * input[3])


def _two_columns(column: int) -> int:
    # arm_convolve_s8_get_buffer_size: two columns of int16, padded to 4 numbers.
    return 2 * 2 * (-(-column // 4) * 4)


def _padding(k: MicroContext, input: tuple[int, ...], filter: tuple[int, ...]) -> tuple[int, int]:
    # ComputePaddingHeightWidth: kernels/padding.h
    sides = []
    for axis, letter in ((1, "h"), (2, "w")):
        stride, dilation = k.number(f"stride_{letter}"), k.number(f"dilation_{letter}_factor", 1)
        window = (filter[axis] - 1) * dilation + 1
        if stride <= 0 or dilation <= 0 or filter[axis] <= 0:
            return 0, 0
        same = k.text("padding", "SAME") == "SAME"
        out = (input[axis] + stride - 1) // stride if same else (input[axis] + stride - window) // stride
        sides.append(max((out - 1) * stride + window - input[axis], 0) // 2 if out >= 0 else 0)
    return sides[0], sides[1]


def depthwise_conv_2d(k: MicroContext) -> None:
    """DEPTHWISE_CONV_2D."""
    input, filter, output = k.input(0), k.input(1), k.output()
    k.same_type(input, output)
    _no_hybrid(k, input, filter)
    channels = at(k, filter, 3)
    if input.type in _QUANTIZED:
        if input.type == "int16":
            zero_points(k, 0, input, output)
        reference.channel_quantization(k, filter, channels)
        k.keep(4 * channels)
        k.keep(4 * channels)
    k.counts((2, 3))
    reference.has_bias(k)
    reference.conv_params(k, channels)
    if input.type == "int8":
        k.require(input.rank == filter.rank == output.rank == 4, "a tensor has not 4 dimensions")
        k.require(input.dims[0] == output.dims[0], "input and output differ in batch")
        k.require(output.dims[3] == channels, "its filter does not fit its output")
        _scratch(k, _depthwise_bytes(k, input.dims, filter))


def _depthwise_bytes(k: MicroContext, input: tuple[int, ...], filter: MicroTensor) -> int:
    # arm_depthwise_conv_wrapper_s8_get_buffer_size, arm_depthwise_conv_wrapper_s4_get_buffer_size
    plain = k.number("dilation_w_factor", 1) == 1 and k.number("dilation_h_factor", 1) == 1
    if not (input[3] == filter.dims[3] and input[0] == 1 and plain):
        return 0
    small = filter.dims[1:3] == (3, 3) and max(_padding(k, input, filter.dims)) <= 1
    if filter.type == "int8" and small:
        return 0
    return 2 * input[3] * filter.dims[1] * filter.dims[2]


def fully_connected(k: MicroContext) -> None:
    """FULLY_CONNECTED: the sums of weights that MVE keeps are not made on a Cortex-M4."""
    input, filter, bias, output = k.input(0), k.input(1), k.maybe_input(2), k.output()
    k.same_type(input, output)
    _no_hybrid(k, input, filter)
    k.require(2 <= output.rank <= 4 and filter.rank >= 1, f"its output has {output.rank} dimensions")
    reference.fc_params(k, input, filter, bias, output, k.fused)
    by_channel = input.type != "float32" and len(filter.scales) > 1
    k.require(not by_channel or input.type == "int8", "an int16 input with a filter quantized by channel")
    if input.type == "int16":
        zero_points(k, 0, input, output)
    if input.type != "int8" or filter.type == "int4":
        return
    # Run as a 1x1 convolution, whose own buffer is empty when built with gcc; so is that of the plain kernel.
    if output.rank > 2 and filter.dims[-1] % 4 == 0 and not by_channel:
        k.scratch(8 * output.dims[-1])


def average_pool(k: MicroContext) -> None:
    """AVERAGE_POOL_2D: a row of int32."""
    reference.pooling(k)
    input, output = k.input(0), k.output()
    if input.type in _QUANTIZED:
        k.require(input.rank == output.rank == 4, "input or output has not 4 dimensions")
        k.require(input.dims[3] == output.dims[3], "input and output differ in depth")
        _scratch(k, 4 * input.dims[3])


def softmax(k: MicroContext) -> None:
    """SOFTMAX: input and output of one shape."""
    reference_softmax(k)
    input, output = k.tensor(k.operator.inputs[0]), k.tensor(k.operator.outputs[0])
    k.require(input.dims == output.dims, "input and output differ in shape")


def lstm(k: MicroContext) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM: eight sums of weights in the tail, three buffers in int8 and int16."""
    for place in (*range(1, 9), *range(12, 16)):
        index = k.operator.inputs[place] if place < len(k.operator.inputs) else -1
        k.require(index < 0 or is_constant(k.tensor(index).tensor), f"its input {place} is not a constant")
    batch, state, cell_type = lstm_shapes(k)
    activations = k.tensor(k.operator.inputs[0]).type
    integer = activations in _QUANTIZED and cell_type == "int16"
    for _ in range(8 if integer else 0):
        k.keep(state * (4 if activations == "int8" else 8))
    for _ in range(3 if integer else 4):
        k.scratch(batch * state * TYPE_BYTES[cell_type])


def transpose_conv(k: MicroContext) -> None:
    """TRANSPOSE_CONV."""
    output, input, filter = k.output(), k.input(2), k.input(1)
    k.same_type(input, output)
    fits = (input.type, filter.type) in (("float32", "float32"), ("int16", "int8"), ("int8", "int8"))
    k.require(fits, reference.HYBRID.format(input.type, filter.type))
    channels = at(k, filter, 0)
    k.keep(4 * channels)
    k.keep(4 * channels)
    if input.type == "int8":
        _transposed_buffers(k, input, filter, output)
    if input.type == "int16":
        k.scratch(8 * output.elements)
    if input.type in _QUANTIZED:
        reference.channel_quantization(k, filter, channels)
    k.counts((3, 4))
    if input.type != "float32":
        reference.transpose_conv_params(k, channels)


def _transposed_buffers(
    k: MicroContext, input: MicroTensor, filter: MicroTensor, output: MicroTensor
) -> None:
    k.require(input.rank == filter.rank == output.rank == 4, "a tensor has not 4 dimensions")
    rows, columns, depth = input.dims[1:]
    del rows
    k.require(filter.dims[3] == depth and filter.dims[0] == output.dims[3], "its filter does not fit")
    high, wide = k.number("stride_h"), k.number("stride_w")
    tall, broad = filter.dims[1:3]
    if wide <= 2 and high <= 2 and depth > _REVERSE_CHANNELS:
        k.scratch(_two_columns(broad * tall * depth))
        k.scratch(depth * broad * tall * filter.dims[0])
    else:
        # The width is held against the stride's height: so the library has it.
        row = ((columns - 1) * wide + max(broad, high)) * output.dims[3]
        k.scratch(4 * row * max(tall, high))
        k.scratch(0)


def batch_matmul(k: MicroContext) -> None:
    """BATCH_MATMUL."""
    left, right, output = k.input(0), k.input(1), k.output()
    k.same_type(left, right, "sides")
    k.same_type(left, output)
    k.one_of(left, "left side", "float32", "int16", "int8")
    k.require(2 <= left.rank <= 4 and 2 <= right.rank <= 4, "a side has not 2 to 4 dimensions")
    rank, dims = reference.matmul_dims(k, left, right)
    if k.number("adj_x"):
        reference.transposed_copy(k, left)
    if not k.number("adj_y"):
        reference.transposed_copy(k, right)
    reference.matmul_output(k, output, rank, dims)
    if left.type == "float32":
        return
    k.keep_struct("QuantizationOpDataBatchMatmul")
    if left.type == "int16":
        zero_points(k, 0, left, right, output)


def _no_hybrid(k: MicroContext, input: MicroTensor, filter: MicroTensor) -> None:
    filters = {"float32": ("float32",), "int16": ("int8",), "int8": ("int4", "int8")}
    k.require(filter.type in filters.get(input.type, ()), reference.HYBRID.format(input.type, filter.type))


def _scratch(k: MicroContext, size_bytes: int) -> None:
    if size_bytes > 0:
        k.scratch(size_bytes)


KERNELS = {
    "ADD": MicroKernel(add),
    "AVERAGE_POOL_2D": MicroKernel(average_pool),
    "BATCH_MATMUL": MicroKernel(batch_matmul),
    "CONV_2D": MicroKernel(conv_2d),
    "DEPTHWISE_CONV_2D": MicroKernel(depthwise_conv_2d),
    "FULLY_CONNECTED": MicroKernel(fully_connected),
    "SOFTMAX": MicroKernel(softmax),
    "TRANSPOSE_CONV": MicroKernel(transpose_conv),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": MicroKernel(lstm),
}
