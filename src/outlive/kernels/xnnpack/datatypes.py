"""How the delegate sees a tensor: its XNNPACK datatype, or why it has none."""

from __future__ import annotations

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
