"""Tensors as TFLM holds them while it prepares a model: shapes may change, pointers may be set."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from outlive.model import Tensor

# TfLiteTypeSizeOf: tensorflow/lite/micro/memory_helpers.cc. Types that are absent have no size there.
TYPE_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "int4"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "resource"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}

# A shape or an axis list longer than this is no sane model's; reading stops there.
_MOST_CONSTANTS = 4096
_FORMATS = {"int32": "i", "int64": "q"}


class MicroTensor:
    """TfLiteEvalTensor and the TfLiteTensor that a kernel's Prepare gets: type, present dims, quantization.

    Scales and zero points are there only where the file has both (AllocateTempTfLiteTensor).
    """

    __slots__ = ("axis", "dims", "has_data", "resource", "scales", "tensor", "type", "zero_points")

    def __init__(self, tensor: Tensor, dims: tuple[int, ...]) -> None:
        self.tensor = tensor
        self.type = tensor.dtype
        self.dims = dims
        self.has_data = is_constant(tensor)  # its data pointer is set
        self.resource: int | None = None  # the id a VAR_HANDLE wrote into it
        given = tensor.quantization
        whole = given is not None and given.scales and given.zero_points
        self.scales: tuple[float, ...] = given.scales if given is not None and whole else ()
        self.zero_points: tuple[int, ...] = given.zero_points if given is not None and whole else ()
        self.axis = given.axis if given is not None and whole else 0

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dims)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return count(self.dims)

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
    def size_bytes(self) -> int | None:
        """Bytes with the present dims; None for a type TFLM has no size for."""
        width = TYPE_BYTES.get(self.type)
        return None if width is None else count(self.dims) * width

    @property
    def file_bytes(self) -> int:
        """`bytes`: what the file's shape makes, whatever Prepare did to the dims since."""
        return count(self.tensor.shape) * TYPE_BYTES.get(self.type, 0)

    def numbers(self) -> tuple[int, ...] | None:
        """The constant's values; None if it is not a constant of a type that can be read, or far too long."""
        form, buffer, elements = _FORMATS.get(self.type), self.tensor.buffer, self.elements
        if form is None or buffer is None or not 0 <= elements <= _MOST_CONSTANTS:
            return None
        wanted = elements * struct.calcsize(form)
        if not buffer.size_bytes or buffer.size_bytes < wanted:
            return None
        return struct.unpack_from(f"<{elements}{form}", buffer.part(0, wanted))


def is_constant(tensor: Tensor) -> bool:
    """True if TFLM finds bytes for it: GetFlatbufferTensorBuffer, micro_allocator.cc.

    A vector of no bytes is none there, and bytes kept behind the FlatBuffer are not looked for.
    """
    return tensor.buffer is not None and tensor.buffer.size_bytes > 0 and not tensor.buffer.outside


def count(dims: Sequence[int]) -> int:
    """Elements of a shape; a scalar has one."""
    return math.prod(dims[:64])
