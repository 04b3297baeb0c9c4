"""The tensors of a subgraph as the runtime sees them while it prepares kernels: shape, bytes, place."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from outlive.kernels.view import Shape
from outlive.model import Subgraph, Tensor
from outlive.units import tensor_bytes

# TfLiteAllocationType: kTfLiteMmapRo, kTfLiteArenaRw, kTfLiteArenaRwPersistent, kTfLitePersistentRo
# (heap, filled at Prepare), kTfLiteDynamic (heap), kTfLiteCustom (memory of another tensor), kTfLiteMemNone.
Where = Literal["constant", "arena", "persistent", "readonly", "dynamic", "custom", "none"]
Values = tuple[int, ...]

# Types whose elements are packed into bytes.
PACKED_TYPES = ("int4", "uint4", "int2")
_BYTES_PER_SPARSE_INDEX = 4
UNSIZED = frozenset({"string", "resource", "variant"})
_INTEGERS = {"int32": "i", "int64": "q", "int16": "h", "int8": "b", "uint8": "B", "bool": "?", "uint32": "I"}
# Values are followed for shapes and axes only; nothing longer can be one.
_MOST_VALUES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Temporary:
    """One tensor slot a kernel adds behind the model's own, in the order it adds them ("none": never filled).

    One that is filled `at_invoke` has no memory until the kernel first runs, then at most these bytes. One
    that is not `written` is reserved for a way of computing that the kernel does not take here.
    """

    size_bytes: int
    where: Where = "arena"
    name: str = ""
    at_invoke: bool = False
    written: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedOutput:
    """What Prepare does to one output: None leaves a thing as it is."""

    shape: Shape | None = None
    where: Where | None = None
    dtype: str | None = None
    values: Values | None = None
    size_bytes: int | None = None  # where the kernel sets them apart from the shape
    undecided: bool = False  # kTfLiteOutputShapeNotKnown: preparing stops here


@dataclass(slots=True)
class TensorTable:
    """The state of each tensor by index, changed as kernels are prepared; temporaries come last."""

    tensors: tuple[Tensor, ...]
    shapes: list[Shape]
    dtypes: list[str]
    bytes: list[int]
    where: list[Where]
    names: list[str]
    given: Mapping[int, Shape]  # shapes of the runtime, which nothing here may change
    computed: dict[int, Values] = field(default_factory=dict)  # written by Prepare into read-only tensors
    foreseen: dict[int, Values] = field(default_factory=dict)  # what will be there when it is read
    unwritten: set[int] = field(default_factory=set)  # temporaries that are reserved and not used

    def constant(self, tensor: int) -> bool:
        """IsConstantTensor."""
        return 0 <= tensor < len(self.where) and self.where[tensor] == "constant"

    def known(self, tensor: int) -> bool:
        """IsConstantOrPersistentTensor: its value is there when kernels are prepared."""
        return 0 <= tensor < len(self.where) and self.where[tensor] in ("constant", "readonly")

    def persistent(self, tensor: int) -> bool:
        """kTfLiteArenaRwPersistent: it keeps its bytes from one run to the next."""
        return 0 <= tensor < len(self.where) and self.where[tensor] == "persistent"

    def values(self, tensor: int) -> Values | None:
        """The integers in a tensor whose value is known or follows from shapes; None if they are not."""
        if tensor in self.computed or tensor in self.foreseen:
            return self.computed.get(tensor, self.foreseen.get(tensor))
        if not self.constant(tensor) or tensor >= len(self.tensors):
            return None
        found = _integers(self.tensors[tensor])
        if found is not None:
            self.computed[tensor] = found
        return found

    def resize(self, tensor: int, shape: Shape) -> None:
        """Give a tensor another shape, unless the runtime has said what it is."""
        shape = self.given.get(tensor, shape)
        self.shapes[tensor] = shape
        if self.dtypes[tensor] not in UNSIZED:
            self.bytes[tensor] = tensor_bytes(shape, self.dtypes[tensor]) or 0

    def apply(self, tensor: int, output: PreparedOutput) -> None:
        """Change an output as its kernel's Prepare does; the runtime refuses to change a constant."""
        if self.where[tensor] == "constant":
            return
        if output.dtype is not None:
            self.dtypes[tensor] = output.dtype
        if output.where is not None:
            self.where[tensor] = output.where
        if output.shape is not None:
            self.resize(tensor, output.shape)
        if output.size_bytes is not None:
            self.bytes[tensor] = output.size_bytes
        if output.values is not None:
            self.computed[tensor] = output.values

    def add(self, temporary: Temporary) -> int:
        """Put a kernel's temporary behind the others; gives its index."""
        self.shapes.append(())
        self.dtypes.append("")
        self.bytes.append(temporary.size_bytes)
        self.where.append(temporary.where)
        self.names.append(temporary.name)
        if not temporary.written:
            self.unwritten.add(len(self.where) - 1)
        return len(self.where) - 1


def open_table(subgraph: Subgraph, given: Mapping[int, Shape]) -> TensorTable:
    """The tensors as they are once the file is loaded, before any kernel is prepared."""
    tensors = subgraph.tensors
    table = TensorTable(
        tensors=tensors,
        shapes=[tensor.shape for tensor in tensors],
        dtypes=[tensor.dtype for tensor in tensors],
        bytes=[0] * len(tensors),
        where=[_where(tensor) for tensor in tensors],
        names=[tensor.name for tensor in tensors],
        given=given,
    )
    for tensor in tensors:
        if table.where[tensor.index] == "constant":
            table.bytes[tensor.index] = tensor.stored_bytes
        else:
            table.resize(tensor.index, tensor.shape)
    return table


def _where(tensor: Tensor) -> Where:
    """SetTensorParametersReadOnly and SetTensorParametersReadWrite: LiteRT, tflite/core/subgraph.cc."""
    if tensor.has_data and tensor.buffer_index != 0:
        return "constant"
    if tensor.dtype in UNSIZED:
        return "dynamic"
    return "persistent" if tensor.is_variable else "arena"


def _integers(tensor: Tensor) -> Values | None:
    code, buffer = _INTEGERS.get(tensor.dtype), tensor.buffer
    if code is None or buffer is None or not buffer.has_data or tensor.sparsity is not None:
        return None
    width = struct.calcsize(code)
    count = buffer.size_bytes // width
    wanted = 1
    for size in tensor.shape:
        wanted = wanted * size if 0 <= size <= _MOST_VALUES else -1
        if not 0 <= wanted <= _MOST_VALUES:
            return None
    if wanted > count:
        return None
    return tuple(
        int(value) for value in struct.unpack_from(f"<{wanted}{code}", buffer.part(0, wanted * width))
    )


def sparse_bytes(tensor: Tensor) -> int:
    """Segments and indices of a sparse constant, which the interpreter copies as integers of 32 bits."""
    sides = () if tensor.sparsity is None else tensor.sparsity.dimensions
    arrays = (array for side in sides for array in (side.segments, side.indices))
    return _BYTES_PER_SPARSE_INDEX * sum(len(array) for array in arrays if array is not None)
