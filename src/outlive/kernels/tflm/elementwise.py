"""One input, one output of the same shape: activations, rounding, quantization.

Sources: activations_common.cc, elementwise.cc, logistic_common.cc, tanh.cc, softmax_common.cc,
quantize_common.cc, dequantize_common.cc, hard_swish_common.cc and others of tensorflow/lite/micro/kernels.

Reductions: MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL.

Source: reduce_common.cc of tensorflow/lite/micro/kernels.
"""

from outlive.kernels.tflm.checks import below_one, divide, power_of_two, same_dims, single, zero_points
from outlive.kernels.tflm.context import MicroContext, MicroKernel, MicroTensor


def mean_or_sum(k: MicroContext) -> None:
    """MEAN and SUM: an accumulator for each output element in int8 and int16."""
    input, output, axis = k.input(0), k.output(), k.input(1)
    if input.type in ("int8", "int16"):
        k.scratch(4 * output.elements)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)
    _reduction(k)


def min_or_max(k: MicroContext) -> None:
    """REDUCE_MAX and REDUCE_MIN."""
    _reduction(k)
    input = k.input(0)
    k.output()
    axis = k.input(1)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)


def reduce_all(k: MicroContext) -> None:
    """REDUCE_ALL."""
    input = k.input(0)
    k.output()
    axis = k.input(1)
    k.one_of(input, "input", "bool")
    _reduction(k)
    k.scratch(4 * input.rank)
    k.scratch(4 * axis.elements)


def _reduction(k: MicroContext) -> None:
    # PrepareSimple: the tensors are looked at once more.
    input = k.input(0)
    k.counts(2)
    axis = k.input(1)
    k.one_of(axis, "axis", "int32")
    if input.type == "int8":
        k.output()


_LUT_BYTES = 2 * 513  # LUTSize<int16_t>: kernels/internal/common.h


def pair(k: MicroContext) -> tuple[MicroTensor, MicroTensor]:
    """The one input and the one output of an operator that must have no more."""
    k.counts(1)
    return k.input(0), k.output()


def pair_only(k: MicroContext) -> None:
    """CAST, ZEROS_LIKE: the tensors must be there."""
    pair(k)


def counted(k: MicroContext) -> None:
    """SHAPE: one input, one output."""
    k.counts(1)


def scaled(k: MicroContext) -> None:
    """ABS and RSQRT. No type is refused: their check converts the type to a pointer, which is never null."""
    input, output = pair(k)
    k.same_type(input, output)
    if input.type == "int8" or (input.type == "int16" and input.quantized):
        k.require(input.quantized and output.quantized, "input or output has no quantization")
        if input.type == "int16":
            zero_points(k, 0, input, output)


def same_floats(k: MicroContext) -> None:
    """CEIL, EXP, ROUND: float32 of one shape."""
    input, output = k.input(0), k.output()
    k.counts(1)
    k.one_of(input, "input", "float32")
    k.same_type(input, output)
    same_dims(k, input, output)


def relu(k: MicroContext) -> None:
    """RELU."""
    input, output = k.input(0), k.output()
    if input.type == "int16":
        zero_points(k, 0, input, output)


def relu6(k: MicroContext) -> None:
    """RELU6: only its input is looked at."""
    k.input(0)


def logistic(k: MicroContext) -> None:
    """LOGISTIC."""
    input, output = k.input(0), k.output()
    k.same_type(input, output)
    if input.type == "int8":
        zero_points(k, -128, output)
    if input.type == "int16":
        _q15_output(k, input, output)


def tanh(k: MicroContext) -> None:
    """TANH: its input is looked at twice."""
    k.input(0)
    input, output = pair(k)
    k.same_type(input, output)
    if input.type == "int16":
        _q15_output(k, input, output)


def _q15_output(k: MicroContext, input: MicroTensor, output: MicroTensor) -> None:
    zero_points(k, 0, input, output)
    k.require(power_of_two(output.scale) == -15, f"int16 needs output scale 1/32768, has {output.scale:.4g}")


def same_type(k: MicroContext) -> None:
    """ELU, LEAKY_RELU, SIN, COS, LOG, SQRT, SQUARE, LOGICAL_NOT: one type in and out (see `scaled`)."""
    input, output = pair(k)
    k.same_type(input, output)


def hard_swish(k: MicroContext) -> None:
    """HARD_SWISH: in int8 the output's scale may not be far finer than the input's."""
    input, output = pair(k)
    if input.type == "int8":
        ratio = divide(single(input.scale / 128), output.scale)
        k.require(ratio < 1, "its output scale is too fine for its input scale")


def log_softmax(k: MicroContext) -> None:
    """LOG_SOFTMAX: op data in int8 only."""
    input, output = pair(k)
    k.same_type(input, output)
    same_dims(k, input, output)
    if input.type == "int8":
        k.keep_struct("LogSoftmaxOpData")
        right = output.scale == 16 / 256 and output.zero_point == 127
        k.require(right, "an int8 output must have scale 1/16 and zero point 127")
        # PreprocessSoftmaxScaling aborts where the multiplier is not above 1.
        k.require(input.scale * 2**26 > 1, f"input scale {input.scale:.4g} is too fine")


def softmax(k: MicroContext) -> None:
    """SOFTMAX: two lookup tables in the tail for an int16 input."""
    k.counts(1)
    input = k.input(0)
    k.require(input.rank >= 1, "its input is a scalar")
    output = k.output()
    if input.type == "int16":
        k.keep(_LUT_BYTES)
        k.keep(_LUT_BYTES)
    if output.type == "int16":
        k.one_of(input, "input of an int16 output", "int8", "int16")
    else:
        k.same_type(input, output)
    k.one_of(input, "input", "float32", "int8", "int16")
    if input.type == "int16":
        zero_points(k, 0, input, output)
        _near(k, output, 1 / 32768)
    elif input.type == "int8":
        _int8_softmax(k, input, output)


def _int8_softmax(k: MicroContext, input: MicroTensor, output: MicroTensor) -> None:
    if output.type == "int16":
        zero_points(k, -32768, output)
        _near(k, output, 1 / 65536)
    else:
        zero_points(k, -128, output)
        k.require(output.scale == 1 / 256, f"an int8 output must have scale 1/256, has {output.scale:.4g}")
    beta = k.option("beta")
    sharpness = beta if isinstance(beta, float) else 0.0
    # PreprocessSoftmaxScaling aborts where the multiplier is not above 1.
    k.require(sharpness * input.scale * 2**26 > 1, f"input scale {input.scale:.4g} is too fine for beta")


def _near(k: MicroContext, output: MicroTensor, scale: float) -> None:
    k.require(abs(output.scale - scale) <= 0.001 * scale, f"output scale must be {scale:.4g}")


def quantize(k: MicroContext) -> None:
    """QUANTIZE."""
    input, output = pair(k)
    k.require(len(output.scales) == 1, "its output has not one scale")
    k.one_of(input, "input", "float32", "int32", "int16", "int8", "uint8")
    k.one_of(output, "output", "int8", "int16", "int32", "uint8")


def dequantize(k: MicroContext) -> None:
    """DEQUANTIZE."""
    input, output = pair(k)
    k.one_of(input, "input", "int8", "int16", "uint8")
    k.one_of(output, "output", "float32")


def l2_normalization(k: MicroContext) -> None:
    """L2_NORMALIZATION."""
    input, output = pair(k)
    k.require(input.rank <= 4, "its input has more than 4 dimensions")
    k.one_of(output, "output", "float32", "int8")
    k.same_type(input, output)
    k.require(k.fused == "NONE", f"fused activation {k.fused} is not supported")


def cumsum(k: MicroContext) -> None:
    """CUMSUM: op data in int8 only."""
    k.counts(2)
    input, axis = k.input(0), k.input(1)
    k.one_of(input, "input", "float32", "int8")
    k.one_of(axis, "axis", "int32")
    k.require(axis.elements == 1 and input.rank >= 1, "its axis is not one number, or its input a scalar")
    output = k.output()
    k.same_type(input, output)
    same_dims(k, input, output)
    if output.type == "int8":
        k.keep_struct("OpDataCumsum")
        twice = 2 * input.scale
        below_one(k, divide(input.scale, twice))
        below_one(k, divide(twice, (1 << 20) * output.scale))


KERNELS = {
    "MEAN": MicroKernel(mean_or_sum),
    "REDUCE_ALL": MicroKernel(reduce_all),
    "REDUCE_MAX": MicroKernel(min_or_max),
    "REDUCE_MIN": MicroKernel(min_or_max),
    "SUM": MicroKernel(mean_or_sum),
    "ABS": MicroKernel(scaled),
    "CAST": MicroKernel(pair_only),
    "CEIL": MicroKernel(same_floats),
    **dict.fromkeys(
        ("COS", "ELU", "LEAKY_RELU", "LOG", "LOGICAL_NOT", "SIN", "SQRT", "SQUARE"), MicroKernel(same_type)
    ),
    "CUMSUM": MicroKernel(cumsum),
    "DEQUANTIZE": MicroKernel(dequantize),
    "EXP": MicroKernel(same_floats),
    "HARD_SWISH": MicroKernel(hard_swish),
    "L2_NORMALIZATION": MicroKernel(l2_normalization),
    "LOGISTIC": MicroKernel(logistic),
    "LOG_SOFTMAX": MicroKernel(log_softmax),
    "QUANTIZE": MicroKernel(quantize),
    "RELU": MicroKernel(relu),
    "RELU6": MicroKernel(relu6),
    "ROUND": MicroKernel(same_floats),
    "RSQRT": MicroKernel(scaled),
    "SHAPE": MicroKernel(counted),
    "SOFTMAX": MicroKernel(softmax),
    "TANH": MicroKernel(tanh),
    "ZEROS_LIKE": MicroKernel(pair_only),
}
