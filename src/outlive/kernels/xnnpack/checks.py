"""The delegate's checks on types, shapes and options: each raises `NotTaken` with its reason.

How the delegate sees a tensor: its XNNPACK datatype, or why it has none.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from outlive.kernels.view import OperatorView, Shape
from outlive.model import Operator, Quantization, Tensor
from outlive.units import DTYPE_BITS

# XNN_MAX_TENSOR_DIMS: XNNPACK include/xnnpack.h
MAX_DIMENSIONS = 6
_SMALLEST_NORMAL = 2.0**-126
_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "int2": (-2, 1)}


class NotTaken(Exception):
    """The delegate leaves an operator to the runtime; the text says why."""


def require(condition: bool, reason: str) -> None:
    """What the delegate insists on."""
    if not condition:
        raise NotTaken(reason)


class DelegateView(OperatorView[Tensor]):
    """An operator as the delegate sees it, before any kernel is prepared: shapes are the file's.

    `unpacked` are tensors made by unpacking a constant: the delegate unpacks them itself and takes them for
    constants. Those `kept_half` stay float16: XNNPACK converts them while it packs.
    """

    __slots__ = ("_shapes", "kept_half", "unpacked")

    def __init__(
        self,
        operator: Operator,
        tensors: Sequence[Tensor],
        shapes: Mapping[int, Shape],
        unpacked: Collection[int] = (),
        kept_half: Collection[int] = (),
    ) -> None:
        super().__init__(operator, tensors)
        self._shapes = shapes
        self.unpacked = unpacked
        self.kept_half = kept_half

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """All inputs."""
        return tuple(self.input(position) for position in range(len(self.operator.inputs)))

    @property
    def outputs(self) -> tuple[Tensor | None, ...]:
        """All outputs."""
        return tuple(self.output(position) for position in range(len(self.operator.outputs)))

    def shape(self, tensor: Tensor) -> Shape:
        """The tensor's shape."""
        return self._shapes.get(tensor.index, tensor.shape)


def affine(tensor: Tensor) -> Quantization | None:
    """The tensor's affine quantization; None if it has none, or one of another kind."""
    quantization = tensor.quantization
    if quantization is None or quantization.kind not in ("per-tensor", "per-channel"):
        return None
    return quantization if quantization.scales else None


def is_normal(scale: float) -> bool:
    """True if a scale is finite, positive and not denormal as a 32-bit float."""
    return math.isfinite(scale) and scale >= _SMALLEST_NORMAL


def scale_and_zero(tensor: Tensor) -> tuple[float, int]:
    """The one scale and zero point; (0, 0) where there is none, or one per channel."""
    quantization = affine(tensor)
    if quantization is None or len(quantization.scales) != 1:
        return 0.0, 0
    return quantization.scales[0], (quantization.zero_points or (0,))[0]


def datatype(tensor: Tensor, shape: tuple[int, ...]) -> str | None:
    """XNNPACK's name of the tensor's type; None if it has none (GetXNNPackDatatype in the delegate)."""
    if tensor.dtype in ("float32", "float16"):
        return "fp32" if tensor.dtype == "float32" else "fp16"
    if tensor.quantization is not None and tensor.quantization.kind == "blockwise":
        return "qbint4" if tensor.dtype == "int4" else None
    quantization = affine(tensor)
    if quantization is None or not all(map(is_normal, quantization.scales)):
        return None
    if tensor.dtype == "uint8":
        return "quint8" if len(quantization.scales) == 1 and _fits(tensor, quantization) else None
    if tensor.dtype in _RANGES:
        return _signed(tensor, quantization, shape)
    if tensor.dtype != "int32" or quantization.axis != 0 or any(quantization.zero_points):
        return None
    if len(quantization.scales) == 1:
        return "qint32"
    return "qcint32" if shape and len(quantization.scales) == shape[0] else None


def _signed(tensor: Tensor, quantization: Quantization, shape: tuple[int, ...]) -> str | None:
    width = tensor.dtype.removeprefix("int")
    if len(quantization.scales) == 1:
        return f"qint{width}" if _fits(tensor, quantization) else None
    if not 0 <= quantization.axis < len(shape) or shape[quantization.axis] != len(quantization.scales):
        return None
    allowed = (0, 8) if tensor.dtype == "int4" else (0,)
    return f"qcint{width}" if all(zero in allowed for zero in quantization.zero_points) else None


def _fits(tensor: Tensor, quantization: Quantization) -> bool:
    low, high = _RANGES[tensor.dtype]
    return low <= (quantization.zero_points or (0,))[0] <= high


def element_bits(kind: str) -> int:
    """Bits of one element of an XNNPACK datatype."""
    if kind.startswith("fp"):
        return int(kind[2:])
    return DTYPE_BITS.get(kind.lstrip("q").lstrip("cbd"), 8)


_RANGED_ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6")
_FLOATS = ("float32", "float16")


def counts(view: DelegateView, inputs: tuple[int, int], outputs: tuple[int, int] = (1, 1)) -> None:
    """CheckNumInputsAndOutputs; a required tensor that is left out is refused too."""
    given, made = len(view.operator.inputs), len(view.operator.outputs)
    require(inputs[0] <= given <= inputs[1], f"it has {given} inputs")
    require(outputs[0] <= made <= outputs[1], f"it has {made} outputs")
    require(all(view.input(position) is not None for position in range(inputs[0])), "an input is left out")
    require(all(view.output(position) is not None for position in range(made)), "an output is left out")


def there(tensor: Tensor | None) -> Tensor:
    """A tensor that must not be left out."""
    if tensor is None:
        raise NotTaken("a tensor is left out")
    return tensor


def _refusal(tensor: Tensor, what: str = "") -> NotTaken:
    return NotTaken(f"{tensor.dtype} tensor {tensor.index}{what and ' ' + what}")


def _typed(tensors: tuple[Tensor | None, ...], kinds: tuple[str, ...], what: str) -> None:
    for tensor in map(there, tensors):
        if tensor.dtype not in kinds:
            raise _refusal(tensor, what)


def is_float(*tensors: Tensor | None) -> None:
    """CheckTensorFloatType."""
    _typed(tensors, _FLOATS, "where floats are needed")


def is_float32(*tensors: Tensor | None) -> None:
    """CheckTensorFloat32Type."""
    _typed(tensors, ("float32",), "where float32 is needed")


def is_int32(*tensors: Tensor | None) -> None:
    """CheckTensorType(kTfLiteInt32)."""
    _typed(tensors, ("int32",), "where int32 is needed")


def eight_bits(*tensors: Tensor | None, kinds: tuple[str, ...] = ("int8", "uint8")) -> None:
    """CheckTensorQInt8OrQUInt8Type: 8 bits with one scale."""
    for tensor in map(there, tensors):
        _typed((tensor,), kinds, "")
        quantization = affine(tensor)
        if quantization is None or len(quantization.scales) != 1 or quantization.axis != 0:
            raise _refusal(tensor, "has no single scale")


def float_or_eight_bits(*tensors: Tensor | None, half: bool = True, unsigned: bool = True) -> None:
    """CheckTensorFloatOrQUInt8Type and its narrower sisters."""
    floats = _FLOATS if half else ("float32",)
    for tensor in tensors:
        if tensor is None or tensor.dtype not in floats:
            eight_bits(tensor, kinds=("int8", "uint8") if unsigned else ("int8",))


def weights(view: DelegateView, tensor: Tensor | None, axis: int) -> None:
    """CheckTensorFloat32OrQCInt8Type: floats, or 8 bits with one scale, or one per channel of `axis`."""
    tensor = there(tensor)
    if tensor.dtype in _FLOATS:
        return
    quantization = affine(tensor)
    if tensor.dtype not in ("int8", "uint8") or quantization is None:
        raise _refusal(tensor, "as weights")
    if tensor.dtype == "uint8":
        eight_bits(tensor)
    _along(tensor, quantization, axis)
    if len(view.shape(tensor)) > MAX_DIMENSIONS or not all(map(is_normal, quantization.scales)):
        raise _refusal(tensor, "has a scale that is no normal number")
    zero = (quantization.zero_points or (0,))[0]
    low, high = (0, 255) if tensor.dtype == "uint8" else (-128, 127)
    if not (zero == 0 if len(quantization.scales) > 1 else low <= zero <= high):
        raise _refusal(tensor, "has a zero point")


def _along(tensor: Tensor, quantization: Quantization, axis: int) -> None:
    if len(quantization.scales) > 1 and quantization.axis != axis:
        raise _refusal(tensor, f"has its scales along dimension {quantization.axis}")


def filter_of_fully_connected(view: DelegateView, tensor: Tensor | None) -> None:
    """CheckTensorFilterType: also 4 and 2 bits, and scales for blocks."""
    tensor = there(tensor)
    given = tensor.quantization
    if tensor.dtype in _FLOATS:
        return
    if tensor.dtype == "uint8":
        return eight_bits(tensor)
    _typed((tensor,), ("int8", "int4", "int2"), "as weights")
    if given is not None and given.kind == "blockwise":
        if given.block_size % 32:
            raise _refusal(tensor, "has an odd block size")
        return
    quantization = affine(tensor)
    if quantization is None:  # the delegate only complains where there is none at all, and goes on
        if given is not None:
            raise _refusal(tensor, "has no scale")
        return
    _along(tensor, quantization, 0)
    shape = view.shape(tensor)
    channels = shape[quantization.axis] if quantization.axis < len(shape) else -1
    if tensor.dtype == "int2" and len(quantization.scales) != channels:
        raise _refusal(tensor, "has no scale for each channel")


def bias(view: DelegateView, tensor: Tensor | None) -> None:
    """CheckTensorFloat32OrFloat16OrQCInt32Type."""
    if tensor is None:
        raise NotTaken("the bias is left out")
    if tensor.dtype not in _FLOATS and datatype(tensor, view.shape(tensor)) not in ("qint32", "qcint32"):
        raise _refusal(tensor, "as bias")


def same_floats(view: DelegateView, kernel: Tensor | None, offset: Tensor | None) -> None:
    """CheckFilterAndBiasTypes: float weights want a bias of their own kind; half ones also a float32 one."""
    if kernel is None or offset is None:
        return
    kinds = ["float16" if tensor.index in view.kept_half else tensor.dtype for tensor in (kernel, offset)]
    fits = kinds[0] not in _FLOATS or kinds[0] == kinds[1] or kinds == ["float16", "float32"]
    require(fits, f"{kinds[0]} weights with {kinds[1]} bias")


def dimensions(view: DelegateView, tensor: Tensor | None, low: int, high: int = -1) -> Shape:
    """CheckTensorShape: so many dimensions, none of them empty."""
    tensor = there(tensor)
    shape = view.shape(tensor)
    fits = low <= len(shape) <= (low if high < 0 else high)
    require(fits, f"tensor {tensor.index} has {len(shape)} dimensions")
    require(all(size > 0 for size in shape), f"tensor {tensor.index} has an empty dimension")
    return shape


def any_rank(view: DelegateView, *tensors: Tensor | None) -> None:
    """CheckTensorShape from 0 to XNN_MAX_TENSOR_DIMS dimensions."""
    for tensor in tensors:
        dimensions(view, tensor, 0, MAX_DIMENSIONS)


def static(view: DelegateView, *tensors: Tensor | None, unpacked: bool = False) -> None:
    """CheckTensorStaticAllocation: the file carries the value, or the delegate unpacks it."""
    for tensor in map(there, tensors):
        known = tensor.is_constant or (unpacked and tensor.index in view.unpacked)
        require(known, f"tensor {tensor.index} is not a constant")


def vector(view: DelegateView, tensor: Tensor | None, *, squeeze: bool = False) -> None:
    """CheckShapeTensorShape: one dimension, or also ones before it."""
    shape = () if tensor is None else view.shape(tensor)
    fits = len(shape) == 1 or (squeeze and all(size == 1 for size in shape[:-1]))
    require(fits, "its parameters are no vector")


def activation(view: DelegateView) -> None:
    """ConvertActivationToOutputRange."""
    name = view.option("fused_activation_function", "NONE")
    require(name in _RANGED_ACTIVATIONS, f"fused activation {name}")


def positive(view: DelegateView, *names: str) -> None:
    """Strides, dilations and the like are above zero."""
    for name in names:
        default = 1 if name.startswith("dilation") else 0
        require(view.number(name, default) > 0, f"{name} is not positive")


def integers(tensor: Tensor | None) -> tuple[int, ...] | None:
    """The values of a small constant of whole numbers; None if they cannot be had."""
    if tensor is None or tensor.dtype not in ("int32", "int64") or (tensor.size_bytes or 0) > 4096:
        return None
    try:
        return tuple(int(value) for value in tensor.array().ravel())
    except LookupError:
        return None
