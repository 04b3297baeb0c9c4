"""Tensors as TFLM holds them while it prepares a model: shapes may change, pointers may be set."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from outlive.model import Tensor

# TfLiteTypeSizeOf: tensorflow/lite/micro/memory_helpers.cc. Types that are absent have no size there.
TYPE_BYTES = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "int16": 2,
    "int32": 4,
    "uint32": 4,
    "uint8": 1,
    "uint16": 2,
    "int8": 1,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
    "resource": 4,
    "complex64": 8,
    "complex128": 16,
    "int4": 1,
}

# A shape or an axis list longer than this is no sane model's; reading stops there.
_MOST_CONSTANTS = 4096
_FORMATS = {"int32": "i", "int64": "q", "float32": "f"}


class EvalTensor:
    """TfLiteEvalTensor: a tensor's type, its present dims, and whether its data pointer is set."""

    __slots__ = ("dims", "has_data", "resource", "tensor")

    def __init__(self, tensor: Tensor, dims: tuple[int, ...]) -> None:
        self.tensor = tensor
        self.dims = dims
        self.has_data = is_constant(tensor)
        self.resource: int | None = None  # the id a VAR_HANDLE wrote into it

    @property
    def type(self) -> str:
        """The element type."""
        return self.tensor.dtype

    @property
    def size_bytes(self) -> int | None:
        """Bytes with the present dims; None for a type TFLM has no size for."""
        width = TYPE_BYTES.get(self.tensor.dtype)
        return None if width is None else count(self.dims) * width


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TempTensor:
    """TfLiteTensor as a kernel's Prepare gets it: type, dims, quantization, and a constant's bytes."""

    tensor: Tensor
    held: EvalTensor
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int

    @property
    def type(self) -> str:
        """The element type."""
        return self.tensor.dtype

    @property
    def dims(self) -> tuple[int, ...]:
        """The present dims."""
        return self.held.dims

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.held.dims)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return count(self.held.dims)

    @property
    def quantized(self) -> bool:
        """True for kTfLiteAffineQuantization: scales and zero points are both there."""
        return bool(self.scales)

    @property
    def scale(self) -> float:
        """`params.scale`: the first scale, 0 without quantization."""
        return self.scales[0] if self.scales else 0.0

    @property
    def zero_point(self) -> int:
        """`params.zero_point`: the first one, 0 without quantization."""
        return self.zero_points[0] if self.zero_points else 0

    @property
    def constant(self) -> bool:
        """IsConstantTensor: the file carries its bytes."""
        return is_constant(self.tensor)

    @property
    def size_bytes(self) -> int:
        """`bytes`: what the file's shape makes, whatever Prepare did to the dims since."""
        return count(self.tensor.shape) * TYPE_BYTES.get(self.tensor.dtype, 0)

    def numbers(self) -> tuple[int, ...] | None:
        """The constant's values; None if it is not a constant of a type that can be read, or far too long."""
        return constant_numbers(self.tensor, self.elements)


def view(held: EvalTensor) -> TempTensor:
    """The tensor as AllocateTempTfLiteTensor fills it from the file."""
    quantization = held.tensor.quantization
    scales = quantization.scales if quantization else ()
    zero_points = quantization.zero_points if quantization else ()
    whole = bool(scales and zero_points)
    return TempTensor(
        tensor=held.tensor,
        held=held,
        scales=scales if whole else (),
        zero_points=zero_points if whole else (),
        axis=quantization.axis if quantization and whole else 0,
    )


def is_constant(tensor: Tensor) -> bool:
    """True if TFLM finds bytes for it: GetFlatbufferTensorBuffer, micro_allocator.cc.

    A vector of no bytes is none there, and bytes kept behind the FlatBuffer are not looked for.
    """
    return tensor.buffer is not None and tensor.buffer.size_bytes > 0 and not tensor.buffer.outside


def constant_numbers(tensor: Tensor, elements: int) -> tuple[int, ...] | None:
    """The first `elements` integers of a constant; None where there are none to be had."""
    form = _FORMATS.get(tensor.dtype)
    buffer = tensor.buffer
    if form is None or form == "f" or buffer is None or not 0 <= elements <= _MOST_CONSTANTS:
        return None
    wanted = elements * struct.calcsize(form)
    if not buffer.size_bytes or buffer.size_bytes < wanted:
        return None
    return struct.unpack_from(f"<{elements}{form}", buffer.part(0, wanted))


def count(dims: Sequence[int]) -> int:
    """Elements of a shape; a scalar has one."""
    return math.prod(dims[:64]) if len(dims) > 64 else math.prod(dims)
