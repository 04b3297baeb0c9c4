"""The delegate's checks on types, shapes and options, each giving its reason for refusing, or ""."""

from __future__ import annotations

from outlive.kernels.xnnpack.datatypes import MAX_DIMENSIONS, Sight, affine, datatype, is_normal
from outlive.model import Tensor

_RANGED_ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")


def option(sight: Sight, name: str, default: object) -> object:
    """An option of the operator, or what the runtime takes where the file has none."""
    options = sight.operator.options
    return default if options is None else options.get(name, default)


def number(sight: Sight, name: str, default: int = 0) -> int:
    """A whole number among the options."""
    value = option(sight, name, default)
    return value if isinstance(value, int) else default


def counts(sight: Sight, inputs: tuple[int, int], outputs: tuple[int, int] = (1, 1)) -> str:
    """CheckNumInputsAndOutputs; a required tensor that is left out is refused too."""
    given, made = len(sight.operator.inputs), len(sight.operator.outputs)
    if not inputs[0] <= given <= inputs[1]:
        return f"it has {given} inputs"
    if not outputs[0] <= made <= outputs[1]:
        return f"it has {made} outputs"
    if any(sight.input(position) is None for position in range(inputs[0])):
        return "an input is left out"
    return (
        "" if all(sight.output(position) is not None for position in range(made)) else "an output is left out"
    )


def _one_scale(tensor: Tensor) -> bool:
    quantization = affine(tensor)
    return quantization is not None and len(quantization.scales) == 1 and quantization.axis == 0


def _refused(tensor: Tensor | None, what: str = "") -> str:
    if tensor is None:
        return "a tensor is left out"
    return f"{tensor.dtype} tensor {tensor.index}{what and ' ' + what}"


def is_float(*tensors: Tensor | None) -> str:
    """CheckTensorFloatType."""
    for tensor in tensors:
        if tensor is None or tensor.dtype not in ("float32", "float16"):
            return _refused(tensor, "where floats are needed")
    return ""


def is_float32(*tensors: Tensor | None) -> str:
    """CheckTensorFloat32Type."""
    for tensor in tensors:
        if tensor is None or tensor.dtype != "float32":
            return _refused(tensor, "where float32 is needed")
    return ""


def is_int32(*tensors: Tensor | None) -> str:
    """CheckTensorType(kTfLiteInt32)."""
    for tensor in tensors:
        if tensor is None or tensor.dtype != "int32":
            return _refused(tensor, "where int32 is needed")
    return ""


def eight_bits(*tensors: Tensor | None, kinds: tuple[str, ...] = ("int8", "uint8")) -> str:
    """CheckTensorQInt8OrQUInt8Type: 8 bits with one scale."""
    for tensor in tensors:
        if tensor is None or tensor.dtype not in kinds:
            return _refused(tensor)
        if not _one_scale(tensor):
            return _refused(tensor, "has no single scale")
    return ""


def float_or_eight_bits(*tensors: Tensor | None, half: bool = True, unsigned: bool = True) -> str:
    """CheckTensorFloatOrQUInt8Type and its narrower sisters."""
    floats = ("float32", "float16") if half else ("float32",)
    for tensor in tensors:
        if tensor is not None and tensor.dtype in floats:
            continue
        reason = eight_bits(tensor, kinds=("int8", "uint8") if unsigned else ("int8",))
        if reason:
            return reason
    return ""


def weights(sight: Sight, tensor: Tensor | None, axis: int) -> str:
    """CheckTensorFloat32OrQCInt8Type: floats, or 8 bits with one scale, or one per channel of `axis`."""
    if tensor is None or tensor.dtype in ("float32", "float16"):
        return "" if tensor is not None else _refused(tensor)
    quantization = affine(tensor)
    if tensor.dtype not in ("int8", "uint8") or quantization is None:
        return _refused(tensor, "as weights")
    if tensor.dtype == "uint8" and not _one_scale(tensor):
        return _refused(tensor, "has no single scale")
    if len(quantization.scales) > 1 and quantization.axis != axis:
        return _refused(tensor, f"has its scales along dimension {quantization.axis}")
    if len(sight.shape(tensor)) > MAX_DIMENSIONS or not all(map(is_normal, quantization.scales)):
        return _refused(tensor, "has a scale that is no normal number")
    zero = (quantization.zero_points or (0,))[0]
    low, high = (0, 255) if tensor.dtype == "uint8" else (-128, 127)
    per_channel = len(quantization.scales) > 1
    return "" if (zero == 0 if per_channel else low <= zero <= high) else _refused(tensor, "has a zero point")


def filter_of_fully_connected(sight: Sight, tensor: Tensor | None) -> str:
    """CheckTensorFilterType: also 4 and 2 bits, and scales for blocks."""
    if tensor is None or tensor.dtype in ("float32", "float16"):
        return "" if tensor is not None else _refused(tensor)
    if tensor.dtype == "uint8":
        return eight_bits(tensor)
    if tensor.dtype not in ("int8", "int4", "int2"):
        return _refused(tensor, "as weights")
    if tensor.quantization is not None and tensor.quantization.kind == "blockwise":
        return "" if tensor.quantization.block_size % 32 == 0 else _refused(tensor, "has an odd block size")
    quantization = affine(tensor)
    if quantization is None:  # the delegate only complains here, and goes on
        return _refused(tensor, "has no scale") if tensor.quantization is not None else ""
    if len(quantization.scales) > 1 and quantization.axis != 0:
        return _refused(tensor, f"has its scales along dimension {quantization.axis}")
    shape = sight.shape(tensor)
    channels = shape[quantization.axis] if quantization.axis < len(shape) else -1
    if tensor.dtype == "int2" and len(quantization.scales) != channels:
        return _refused(tensor, "has no scale for each channel")
    return ""


def bias(sight: Sight, tensor: Tensor | None) -> str:
    """CheckTensorFloat32OrFloat16OrQCInt32Type."""
    if tensor is None or tensor.dtype in ("float32", "float16"):
        return "" if tensor is not None else "the bias is left out"
    return (
        "" if datatype(tensor, sight.shape(tensor)) in ("qint32", "qcint32") else _refused(tensor, "as bias")
    )


def same_floats(sight: Sight, kernel: Tensor | None, offset: Tensor | None) -> str:
    """CheckFilterAndBiasTypes: float weights want a bias of their own kind; half ones also a float32 one."""
    if kernel is None or offset is None:
        return ""
    kinds = ["float16" if tensor.index in sight.kept_half else tensor.dtype for tensor in (kernel, offset)]
    if kinds[0] not in ("float16", "float32") or kinds[0] == kinds[1]:
        return ""
    return "" if kinds == ["float16", "float32"] else f"{kinds[0]} weights with {kinds[1]} bias"


def dimensions(sight: Sight, tensor: Tensor | None, low: int, high: int = -1) -> str:
    """CheckTensorShape: so many dimensions, none of them empty."""
    if tensor is None:
        return "a tensor is left out"
    shape = sight.shape(tensor)
    if not low <= len(shape) <= (low if high < 0 else high):
        return f"tensor {tensor.index} has {len(shape)} dimensions"
    return "" if all(size > 0 for size in shape) else f"tensor {tensor.index} has an empty dimension"


def any_rank(sight: Sight, *tensors: Tensor | None) -> str:
    """CheckTensorShape from 0 to XNN_MAX_TENSOR_DIMS dimensions."""
    for tensor in tensors:
        reason = dimensions(sight, tensor, 0, MAX_DIMENSIONS)
        if reason:
            return reason
    return ""


def static(sight: Sight, *tensors: Tensor | None, unpacked: bool = False) -> str:
    """CheckTensorStaticAllocation: the file carries the value, or the delegate unpacks it."""
    for tensor in tensors:
        if tensor is None or not (tensor.is_constant or (unpacked and tensor.index in sight.unpacked)):
            return "a tensor is left out" if tensor is None else f"tensor {tensor.index} is not a constant"
    return ""


def vector(sight: Sight, tensor: Tensor | None, *, squeeze: bool = False) -> str:
    """CheckShapeTensorShape: one dimension, or also ones before it."""
    shape = () if tensor is None else sight.shape(tensor)
    if len(shape) == 1 or (squeeze and all(size == 1 for size in shape[:-1])):
        return ""
    return "its parameters are no vector"


def activation(sight: Sight) -> str:
    """ConvertActivationToOutputRange."""
    name = option(sight, "fused_activation_function", "NONE")
    return "" if name in _RANGED_ACTIVATIONS else f"fused activation {name}"


def positive(sight: Sight, *names: str) -> str:
    """Strides, dilations and the like are above zero."""
    for name in names:
        if number(sight, name, 1 if name.startswith("dilation") else 0) <= 0:
            return f"{name} is not positive"
    return ""


def integers(tensor: Tensor | None) -> tuple[int, ...] | None:
    """The values of a small constant of whole numbers; None if they cannot be had."""
    if tensor is None or tensor.dtype not in ("int32", "int64") or (tensor.size_bytes or 0) > 4096:
        return None
    try:
        return tuple(int(value) for value in tensor.array().ravel())
    except LookupError:
        return None
