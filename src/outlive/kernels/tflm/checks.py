"""What many kernels check in Prepare: shapes, scales, activation ranges.

Sources: tensorflow/lite/kernels/kernel_util.cc, tensorflow/lite/kernels/internal/quantization_util.cc.
"""

import math
import struct

from outlive.kernels.tflm.context import MicroContext, MicroTensor

SMALL_RANK = 6  # RuntimeShape::kMaxSmallSize: kernels/internal/runtime_shape.h
_ACTIVATION_BOUNDS = {"RELU": (0.0,), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
_INT32_LIMIT = float(2**31)


def single(value: float) -> float:
    """The value rounded to a 32-bit float, as the kernels compute."""
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.inf
    return float(rounded)


def divide(numerator: float, denominator: float) -> float:
    """A quotient as C has it: infinite or not a number where the denominator is 0."""
    if denominator == 0:
        return math.nan if numerator == 0 or math.isnan(numerator) else math.copysign(math.inf, numerator)
    return numerator / denominator


def same_dims(k: MicroContext, first: MicroTensor, second: MicroTensor) -> None:
    """Refuse unless two tensors have one shape."""
    k.require(first.dims == second.dims, f"shapes {first.dims} and {second.dims} differ")


def unquantized(k: MicroContext, *tensors: MicroTensor) -> None:
    """Refuse int32 arithmetic on quantized tensors."""
    k.require(not any(t.quantized for t in tensors), "int32 tensors with quantization are not supported")


def below_one(k: MicroContext, multiplier: float) -> None:
    """QuantizeMultiplierSmallerThanOneExp: TFLM aborts unless the multiplier lies between 0 and 1."""
    k.require(0 < multiplier < 1, f"its scales give a multiplier of {multiplier:.3g}, not between 0 and 1")


def zero_points(k: MicroContext, wanted: int, *tensors: MicroTensor) -> None:
    """Refuse unless all zero points are this one."""
    for tensor in tensors:
        found = tensor.zero_point
        k.require(found == wanted, f"{tensor.type} needs zero point {wanted}, has {found}")


def activation_range(k: MicroContext, output: MicroTensor, activation: str) -> None:
    """CalculateActivationRangeQuantized."""
    k.one_of(output, "a quantized output", "uint8", "int8", "int16")
    for bound in _ACTIVATION_BOUNDS.get(activation, ()):
        steps = divide(bound, output.scale)
        k.require(
            -_INT32_LIMIT <= steps <= _INT32_LIMIT, f"output scale {output.scale} does not fit {activation}"
        )


def conv_multiplier(
    k: MicroContext, input: MicroTensor, filter: MicroTensor, bias: MicroTensor | None, output_scale: float
) -> None:
    """GetQuantizedConvolutionMultipler: the bias must be scaled as input times filter."""
    if bias is not None:
        difference = abs(input.scale * filter.scale - bias.scale)
        k.require(
            divide(difference, output_scale) <= 0.02,
            f"bias scale {bias.scale:.4g} is not input scale times filter scale",
        )
    k.require(single(input.scale * filter.scale) >= 0, "a scale is negative")


def conv_quantization(
    k: MicroContext,
    input: MicroTensor,
    filter: MicroTensor,
    bias: MicroTensor | None,
    output: MicroTensor,
    channels: int,
) -> None:
    """PopulateConvolutionQuantizationParams."""
    k.require(input.quantized and filter.quantized, "input or filter has no quantization")
    if len(filter.scales) > 1:
        k.one_of(input, "input of a filter quantized by channel", "int8", "int16")
        k.one_of(filter, "a filter quantized by channel", "int8", "int4")
        axis = filter.dims[filter.axis] if 0 <= filter.axis < filter.rank else None
        right = len(filter.scales) == channels == axis
        k.require(right, f"{len(filter.scales)} filter scales for {channels} channels")
    if input.type == "uint8":
        conv_multiplier(k, input, filter, bias, output.scale)
    if input.type in ("int8", "uint8", "int16"):
        activation_range(k, output, k.fused)


def power_of_two(scale: float) -> int | None:
    """CheckedLog2: the exponent if the scale is (nearly) a power of two."""
    if scale <= 0 or not math.isfinite(scale):
        return None
    exponent = math.log2(scale)
    return round(exponent) if abs(exponent - round(exponent)) < 1e-3 else None


def at(k: MicroContext, tensor: MicroTensor, axis: int) -> int:
    """One dim; the kernels read past the end where it does not exist, which no model should ask for."""
    if not 0 <= axis < tensor.rank:
        k.refuse(f"a tensor of {tensor.rank} dimensions has no dimension {axis}")
    return tensor.dims[axis]


def as_int32(tensor: MicroTensor, wanted: int) -> tuple[int, ...]:
    """The words of a constant as kernels read them: int32 whatever its type says, past its end if need be."""
    buffer = tensor.tensor.buffer
    if buffer is None or buffer.offset is None or not buffer.has_data:
        return ()
    # Past its end comes what follows in the file: TFLM reads it in place.
    data = buffer.file.read(buffer.offset, min(buffer.offset + 4 * wanted, buffer.file.size))
    return struct.unpack_from(f"<{data.nbytes // 4}i", data)
