"""What the matrix libraries of the builtin kernels pack operands into: theirs, not the planner's."""

from __future__ import annotations

from dataclasses import dataclass, field

from outlive.arena.builtin.eigen_blocking import block_bytes
from outlive.arena.glibc_heap import Heap, Piece
from outlive.kernels.litert.kernel import MatrixProduct
from outlive.units import DTYPE_BITS

_SUM_BYTES = 4
_BLOCK_BYTES = 64  # kMinimumBlockAlignment: ruy/system_aligned_alloc.h
# Of its kernels for AVX-512, which round up most (ruy/kernel_x86.h), and to avoid aliases (ruy/allocator.cc).
_COLUMNS, _DEPTH, _APART_BYTES = 16, 4, 1024


def packed_pieces(product: MatrixProduct) -> tuple[int, ...]:
    """Bytes of the pieces of memory that the operands of a product are packed into."""
    if product.eigen:
        return block_bytes(product.rows, product.depth, product.columns)
    weights = _whole(product.rows, product.depth, product.weights)
    return *weights, *_whole(product.columns, product.depth, product.data)


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
