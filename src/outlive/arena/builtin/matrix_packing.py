"""What the matrix libraries of the builtin kernels pack operands into: theirs, not the planner's."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache

from outlive.arena.glibc_heap import GlibcHeap, HeapBlock
from outlive.kernels.litert.kernel import MatrixProduct
from outlive.meter import read_system_number
from outlive.units import DTYPE_BITS

_SUM_BYTES = 4
_BLOCK_BYTES = 64  # kMinimumBlockAlignment: ruy/system_aligned_alloc.h
# Of its kernels for AVX-512, which round up most (ruy/kernel_x86.h), and to avoid aliases (ruy/allocator.cc).
_COLUMNS, _DEPTH, _APART_BYTES = 16, 4, 1024
# How Eigen cuts a product of floats into blocks (evaluateProductBlockingSizesHeuristic of one thread), in the
# Eigen that LiteRT names in tflite/tools/cmake/modules/eigen.cmake:
# Eigen/src/Core/products/GeneralBlockPanelKernel.h, commit ea13a98d.
# gebp_traits<float, float> of a build for SSE, as the released package is.
_PANEL_ROWS, _PANEL_COLUMNS, _PEELED = 8, 4, 8
_SCALAR_BYTES = 4
_ALIGNED_BYTES = 64
_SMALL = 48
# Blocks up to this are on the stack: EIGEN_STACK_ALLOCATION_LIMIT in Eigen/src/Core/util/Macros.h.
STACK_BYTES = 128 * 1024 + _ALIGNED_BYTES
# glibc, bits/confname.h: _SC_LEVEL1_DCACHE_SIZE and _SC_LEVEL2_CACHE_SIZE, for which Python has no names; and
# what Eigen takes where it finds none.
_FIRST, _SECOND = (188, 32 << 10), (191, 256 << 10)


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

    heap: GlibcHeap
    reserved_bytes: int = 0
    _room: HeapBlock | None = None
    _beside: list[HeapBlock] = field(default_factory=list)
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
        """The product is computed: a larger room, not written to yet, replaces all pieces."""
        if not self._beside:
            return
        if self._room is not None:
            self.heap.free(self._room)
        self.reserved_bytes += self._beside_bytes
        self._room = self.heap.allocate(self.reserved_bytes, aligned=True, written=False)
        for piece in self._beside:
            self.heap.free(piece)
        self._beside, self._beside_bytes = [], 0


def block_bytes(rows: int, depth: int, columns: int) -> tuple[int, int]:
    """The blocks of weights (rows x depth) and of data (depth x columns).

    Rows are cut only where neither depth nor columns are: of a deep operand all rows are packed at once.
    """
    if max(rows, depth, columns) >= _SMALL:
        first, second = first_cache_bytes(), second_cache_bytes()
        deep = _depth_of_block(depth, first)
        wide = _columns_of_block(rows, deep, columns, first, second)
        if (deep, wide) == (depth, columns):
            rows = _rows_of_block(rows, depth, columns, first, second)
        depth, columns = deep, wide
    return rows * depth * _SCALAR_BYTES + _ALIGNED_BYTES, columns * depth * _SCALAR_BYTES + _ALIGNED_BYTES


def _most_depth(first: int) -> int:
    panel = _SCALAR_BYTES * (_PANEL_ROWS + _PANEL_COLUMNS)
    return max((first - _SCALAR_BYTES * _PANEL_ROWS * _PANEL_COLUMNS) // panel // _PEELED * _PEELED, 1)


def _depth_of_block(depth: int, first: int) -> int:
    most = _most_depth(first)
    if depth <= most:
        return depth
    left = depth % most
    return most if not left else most - _PEELED * ((most - 1 - left) // (_PEELED * (depth // most + 1)))


def _columns_of_block(rows: int, depth: int, columns: int, first: int, second: int) -> int:
    reached = second * 3 // 2
    room = first - _SCALAR_BYTES * (_PANEL_ROWS * _PANEL_COLUMNS + rows * depth)
    most = reached // (2 * depth * _SCALAR_BYTES)
    if room >= _PANEL_COLUMNS * _SCALAR_BYTES * depth:  # all weights fit the first cache
        most = min(most, room // (depth * _SCALAR_BYTES))
    most = most // _PANEL_COLUMNS * _PANEL_COLUMNS
    if columns <= most or not most:
        return columns
    left, sweeps = columns % most, columns // most + 1
    return most - _PANEL_COLUMNS * ((most - left) // (_PANEL_COLUMNS * sweeps)) if left else most


def _rows_of_block(rows: int, depth: int, columns: int, first: int, second: int) -> int:
    size, level, most = depth * columns * _SCALAR_BYTES, second * 3 // 2, rows
    if size <= 1024:
        level = first
    elif size <= 32768:
        level, most = second, min(576, rows)
    most = min(level // (3 * depth * _SCALAR_BYTES), most)
    if not most:
        return rows
    most -= most % _PANEL_ROWS if most > _PANEL_ROWS else 0
    left, sweeps = rows % most, rows // most + 1
    return most - _PANEL_ROWS * ((most - left) // (_PANEL_ROWS * sweeps)) if left else most


def first_cache_bytes() -> int:
    """The data cache of a core."""
    return _cache_bytes(*_FIRST)


def second_cache_bytes() -> int:
    """The second cache of a core."""
    return _cache_bytes(*_SECOND)


@cache
def _cache_bytes(name: int, usual: int) -> int:
    """A data cache of this machine; as Eigen assumes where the system does not tell."""
    return (read_system_number(name) if sys.platform == "linux" else None) or usual
