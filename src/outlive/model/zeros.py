"""The zeros in a model's weights: how many there are, weight by weight.

A pruned weight is still stored: a zero takes as many bytes as any other number.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from outlive.model.buffer import Buffer
from outlive.model.model import Model
from outlive.model.tensor import Tensor
from outlive.records import NOT_WRITTEN, in_document, written
from outlive.units import count_elements

LEAST_BYTES = 1024
# Enough to see whether a tensor is worth counting.
_PROBE_BYTES = 4096
_CHUNK_BYTES = 1 << 20
# How elements are read as numbers, and which of these are zero: floats have a zero of each sign.
_FLOATS: dict[str, tuple[Literal["I", "H"], tuple[int, ...]]] = {
    "float32": ("I", (0, 0x80000000)),
    "float16": ("H", (0, 0x8000)),
    "bfloat16": ("H", (0, 0x8000)),
}
_WIDTHS = {"float32": 4, "float16": 2, "bfloat16": 2}
_BYTES = frozenset({"int8", "uint8"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightZeros:
    """A constant that operators read: its elements, and how many of them are zero.

    `stored_bytes` is what it takes in the file, `dense_bytes` what it takes unpacked.
    """

    subgraph: int
    tensor: Tensor = field(metadata=NOT_WRITTEN)
    elements: int
    zeros: int
    stored_bytes: int
    dense_bytes: int
    is_sparse: bool = field(metadata=written("sparse"))

    @property
    @in_document("tensor")
    def index(self) -> int:
        """The tensor's number."""
        return self.tensor.index

    @property
    @in_document()
    def name(self) -> str:
        """The tensor's name."""
        return self.tensor.name

    @property
    @in_document()
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.tensor.shape

    @property
    @in_document()
    def dtype(self) -> str:
        """The tensor's type."""
        return self.tensor.dtype

    @property
    def share(self) -> float:
        """The part of its elements that is zero."""
        return self.zeros / self.elements if self.elements else 0.0


def count_zeros(model: Model, worth: float = 0.0) -> tuple[WeightZeros, ...]:
    """The weights of at least 1 KiB with their zeros, one for each buffer.

    With `worth`, dense weights whose beginning has a smaller share of zeros are left out and not read on.
    """
    return tuple(_count(model, worth))


def _count(model: Model, worth: float) -> Iterator[WeightZeros]:
    seen: set[int] = set()
    for subgraph in model.subgraphs:
        read = {index for operator in subgraph.operators for index in operator.inputs}
        for tensor in subgraph.tensors:
            if tensor.index not in read or tensor.buffer_index in seen or not _is_weight(tensor):
                continue
            seen.add(tensor.buffer_index)
            found = _zeros(subgraph.index, tensor, worth)
            if found is not None:
                yield found


def _is_weight(tensor: Tensor) -> bool:
    return tensor.has_data and (tensor.size_bytes or 0) >= LEAST_BYTES


def _zeros(subgraph: int, tensor: Tensor, worth: float) -> WeightZeros | None:
    assert tensor.buffer is not None
    elements, dense_bytes = count_elements(tensor.shape) or 0, tensor.size_bytes or 0
    if tensor.sparsity is not None:
        width = dense_bytes // elements if elements else 0
        kept = tensor.stored_bytes // width if width else elements
        zeros = max(0, elements - kept)
    else:
        probe = tensor.buffer.part(0, min(_PROBE_BYTES, dense_bytes))
        if tensor.stored_bytes < dense_bytes or (worth and _of(tensor, probe) < worth):
            return None
        counted = _zeros_in(tensor, _chunks(tensor.buffer, dense_bytes))
        if counted is None:
            return None
        zeros = counted
    return WeightZeros(
        subgraph=subgraph,
        tensor=tensor,
        elements=elements,
        zeros=zeros,
        stored_bytes=tensor.stored_bytes + _lists_bytes(tensor),
        dense_bytes=dense_bytes,
        is_sparse=tensor.sparsity is not None,
    )


def _of(tensor: Tensor, data: memoryview) -> float:
    """The share of zeros in some of a tensor's bytes."""
    counted = _zeros_in(tensor, [data])
    width = _WIDTHS.get(tensor.dtype, 1)
    return 0.0 if counted is None else counted * width / max(1, data.nbytes)


def _zeros_in(tensor: Tensor, chunks: Iterable[memoryview]) -> int | None:
    """How many elements are zero; None for types that are not looked at."""
    if tensor.dtype in _BYTES:
        zero = _zero_byte(tensor)
        return None if zero is None else sum(chunk.count(zero) for chunk in map(bytes, chunks))
    if tensor.dtype not in _FLOATS:
        return None
    code, zeros = _FLOATS[tensor.dtype]
    numbers = (chunk.cast(code).tolist() for chunk in chunks)
    return sum(row.count(zero) for row in numbers for zero in zeros)


def _zero_byte(tensor: Tensor) -> bytes | None:
    """The byte that stands for zero; None if it is another for each channel."""
    points = tensor.quantization.zero_points if tensor.quantization is not None else ()
    if len(set(points)) > 1:
        return None
    return bytes([(points[0] if points else 0) & 0xFF])


def _chunks(buffer: Buffer, size: int) -> Iterator[memoryview]:
    for at in range(0, size, _CHUNK_BYTES):
        yield buffer.part(at, min(at + _CHUNK_BYTES, size))


def _lists_bytes(tensor: Tensor) -> int:
    """Where the elements of a sparse tensor belong takes bytes too."""
    if tensor.sparsity is None:
        return 0
    lists = [part for row in tensor.sparsity.dimensions for part in (row.segments, row.indices)]
    return sum(_list_bytes(part) for part in lists if part)


def _list_bytes(numbers: memoryview | tuple[int, ...]) -> int:
    if isinstance(numbers, memoryview):
        return numbers.nbytes
    # Converters take the smallest type that holds them all.
    largest = max(numbers)
    return len(numbers) * (1 if largest < 2**8 else 2 if largest < 2**16 else 4)
