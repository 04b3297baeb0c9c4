"""What the matrix libraries of the builtin kernels pack operands into: theirs, not the planner's."""

from __future__ import annotations

from dataclasses import dataclass, field

from outlive.arena.builtin.eigen_blocking import block_bytes
from outlive.arena.glibc_heap import Heap, Piece
from outlive.kernels.litert.tensor_table import Node, TensorTable
from outlive.units import DTYPE_BITS, count_elements

_SUM_BYTES = 4
_BLOCK_BYTES = 64  # kMinimumBlockAlignment: ruy/system_aligned_alloc.h
# Of its kernels for AVX-512, which round up most (ruy/kernel_x86.h), and to avoid aliases (ruy/allocator.cc).
_COLUMNS, _DEPTH, _APART_BYTES = 16, 4, 1024
_VECTOR_ROWS, _VECTOR_DEPTH = 4, 8
# The tensors of data and weights among the inputs.
_PLACES = {"CONV_2D": (0, 1), "CONV_3D": (0, 1), "FULLY_CONNECTED": (0, 1)}
_PLACES |= {"TRANSPOSE_CONV": (2, 1), "CONV_3D_TRANSPOSE": (2, 1)}
_INTEGERS = ("int8", "uint8", "int4", "int2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Weights of `rows` x `depth` times `columns` of data, each `depth` deep."""

    rows: int
    depth: int
    columns: int
    weights: str = "float32"  # the types, as they are packed
    data: str = "float32"
    eigen: bool = False  # packs block by block; ruy packs all

    @property
    def pieces(self) -> tuple[int, ...]:
        """Bytes of the pieces of memory that the operands are packed into."""
        if self.eigen:
            return block_bytes(self.rows, self.depth, self.columns)
        return *_whole(self.rows, self.depth, self.weights), *_whole(self.columns, self.depth, self.data)


def _whole(count: int, depth: int, dtype: str) -> tuple[int, int]:
    """An operand as a whole, and the sums of its rows: ruy/prepare_packed_matrices.cc."""
    columns = -(-count // _COLUMNS) * _COLUMNS
    packed = columns * (-(-depth // _DEPTH) * _DEPTH) * DTYPE_BITS[dtype] // 8
    return packed + _APART_BYTES, _SUM_BYTES * columns


@dataclass(slots=True)
class RuyArena:
    """The room that ruy keeps between products, and grows by what did not fit: ruy/allocator.cc."""

    heap: Heap
    reserved_bytes: int = 0
    _room: Piece | None = None
    _beside: list[Piece] = field(default_factory=list)
    _beside_bytes: int = 0

    def pack(self, pieces: tuple[int, ...]) -> None:
        """Take what a product needs, in the room as far as it goes."""
        inside = 0
        for piece in pieces:
            size = -(-piece // _BLOCK_BYTES) * _BLOCK_BYTES
            if inside + size <= self.reserved_bytes:
                inside += size
            else:
                self._beside_bytes += size
                self._beside.append(self.heap.allocate(size, aligned=True))
        if self._room is not None:
            self.heap.write(self._room, inside)

    def release(self) -> None:
        """The product is computed: a larger room, which nobody has written to yet, replaces all pieces."""
        if not self._beside:
            return
        if self._room is not None:
            self.heap.free(self._room)
        self.reserved_bytes += self._beside_bytes
        self._room = self.heap.allocate(self.reserved_bytes, aligned=True, written=False)
        for piece in self._beside:
            self.heap.free(piece)
        self._beside, self._beside_bytes = [], 0


def product_of(table: TensorTable, node: Node) -> Product | None:
    """The product that an operator comes down to, if a library packs for it."""
    kind = node.operator.type
    if kind not in _PLACES or not node.outputs or len(node.inputs) <= max(_PLACES[kind]):
        return None
    place, weight = (node.inputs[position] for position in _PLACES[kind])
    data, weights = table.dtypes[place], table.dtypes[weight]
    shapes = (table.shapes[tensor] for tensor in (place, weight, node.outputs[0]))
    rows, depth, columns = _sides(kind, *shapes)
    if min(rows, depth, columns) < 1:
        return None
    if weights == data == "float32":
        if columns < 2 and kind != "CONV_3D":
            return None  # Eigen does not pack for a vector
        # Weights of CONV_3D lie the other way round, which only ruy takes: tflite/kernels/cpu_backend_gemm.h.
        return Product(rows=rows, depth=depth, columns=columns, eigen=kind != "CONV_3D")
    if weights not in _INTEGERS or (kind, data) == ("FULLY_CONNECTED", "float32"):
        return None
    if data == "int16" and not takes_int16(table, node):
        return None
    # tflite/kernels/cpu_backend_gemm_custom_gemv.h has a kernel of its own for a vector of bytes.
    if columns < 2 and data in ("int8", "uint8") and rows >= _VECTOR_ROWS and depth >= _VECTOR_DEPTH:
        return None
    packed = "int16" if data == "int16" else "int8"
    return Product(rows=rows, depth=depth, columns=columns, weights="int8", data=packed)


def takes_int16(table: TensorTable, node: Node) -> bool:
    """True if a kernel multiplies int16 data by ruy: not with a bias of int64 (tflite/kernels/conv.cc)."""
    return len(node.inputs) > 2 and table.dtypes[node.inputs[2]] == "int32"


def _sides(
    kind: str, data: tuple[int, ...], weights: tuple[int, ...], output: tuple[int, ...]
) -> tuple[int, int, int]:
    """Rows of weights, depth, columns of data."""
    if not data or not weights or not output:
        return 0, 0, 0
    if "TRANSPOSE" in kind:
        return count_elements(weights[:-1]) or 0, weights[-1], count_elements(data[1:-1]) or 0
    if kind == "CONV_3D":
        return weights[-1], count_elements(weights[:-1]) or 0, count_elements(output[:-1]) or 0
    depth = count_elements(weights[1:]) or 0
    if kind == "CONV_2D":
        grouped = data[-1] != weights[-1]  # the reference kernel does these: tflite/kernels/conv.cc
        return weights[0], depth, 0 if grouped else count_elements(output[:-1]) or 0
    return weights[0], depth, (count_elements(data) or 0) // max(depth, 1)
