"""The words the formulas are written in: slots of each kind, and an operator's tensors and options."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.kernels.litert.temporary import Situation, Temporary, Where
from outlive.model import Tensor
from outlive.units import DTYPE_BITS, count_elements, tensor_bytes

Shape = Sequence[int]

# A constant that says an output's shape has one number per dimension; more would be refused by every kernel.
_MOST_VALUES = 64


class Unprepared(Exception):
    """Prepare would refuse this operator, so there is no memory to work out."""


def slot(
    shape: Shape, dtype: str, where: Where = "arena", *, name: str = "", at_invoke: bool = False
) -> Temporary:
    """A slot filled with a tensor of this shape."""
    size = tensor_bytes(shape, dtype)
    if size is None:
        raise Unprepared(f"no size for {dtype} {tuple(shape)}")
    return Temporary(size_bytes=size, where=where, name=name, at_invoke=at_invoke)


def empty(name: str = "") -> Temporary:
    """A slot that was added and never filled: no shape, no bytes."""
    return Temporary(size_bytes=0, where="empty", name=name)


def needed(situation: Situation, position: int) -> Tensor:
    """The input at a position, which the kernel cannot do without."""
    tensor = situation.input(position)
    if tensor is None:
        raise Unprepared(f"input {position} is left out")
    return tensor


def produced(situation: Situation, position: int) -> Tensor:
    """The output at a position."""
    tensor = situation.output(position)
    if tensor is None:
        raise Unprepared(f"output {position} is left out")
    return tensor


def dims(situation: Situation, tensor: Tensor, rank: int | None = None) -> tuple[int, ...]:
    """The shape at Prepare, of this rank and without open dimensions."""
    shape = situation.shape(tensor)
    if (rank is not None and len(shape) != rank) or any(size < 0 for size in shape):
        raise Unprepared(f"tensor {tensor.index} has shape {shape}")
    return shape


def elements(shape: Shape) -> int:
    """How many elements a tensor of this shape has."""
    return count_elements(shape) or 0


def number(situation: Situation, name: str) -> int:
    """An integer or yes-no option; 0 without options, as the runtime's parser leaves it."""
    options = situation.operator.options
    value = None if options is None else options.get(name)
    return int(value) if isinstance(value, int) else 0


def word(situation: Situation, name: str) -> str:
    """An enumerated option by its name; empty if it is missing."""
    options = situation.operator.options
    value = None if options is None else options.get(name)
    return value if isinstance(value, str) else ""


def values(tensor: Tensor, dtype: str = "int32") -> tuple[int, ...] | None:
    """The integers of a small constant; None where it is not one."""
    buffer = tensor.buffer
    width = DTYPE_BITS[dtype] // 8
    if buffer is None or not buffer.has_data or tensor.dtype != dtype:
        return None
    if buffer.size_bytes > _MOST_VALUES * width:
        return None
    raw = bytes(buffer.part(0, buffer.size_bytes))
    return tuple(
        int.from_bytes(raw[at : at + width], "little", signed=True)
        for at in range(0, len(raw) - width + 1, width)
    )


def output_length(padding: str, size: int, window: int, stride: int, dilation: int) -> int:
    """How far a window goes along one dimension: ComputeOutSize of LiteRT, tflite/kernels/padding.h."""
    if stride <= 0 or dilation <= 0:
        raise Unprepared("stride or dilation is not positive")
    if padding == "SAME":
        return (size + stride - 1) // stride
    if padding == "VALID":
        return max((size + stride - ((window - 1) * dilation + 1)) // stride, 0)
    raise Unprepared(f"padding {padding!r}")
