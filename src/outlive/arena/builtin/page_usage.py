"""What a run really takes, operator by operator: pages of the arenas it has written to, heap of its kernels.

An arena is reserved as a whole, but the system gives a page when it is first written to. Much of a large one
may never be, and what kernels take for a moment of the first run comes before later ones have written theirs.

What the matrix libraries of the builtin kernels pack operands into: theirs, not the planner's.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from outlive.arena.builtin.best_fit import ALIGNMENT_BYTES
from outlive.arena.builtin.layout import SubgraphLayout
from outlive.arena.builtin.preparation import Preparation
from outlive.arena.glibc_heap import GlibcHeap, HeapBlock, PageMap
from outlive.kernels.litert.kernel import HeapUse, MatrixProduct
from outlive.kernels.litert.registry import heap_use_of, product_of
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


def _depth_of_block(depth: int, first: int) -> int:
    panel = _SCALAR_BYTES * (_PANEL_ROWS + _PANEL_COLUMNS)
    most = max((first - _SCALAR_BYTES * _PANEL_ROWS * _PANEL_COLUMNS) // panel // _PEELED * _PEELED, 1)
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


_RUNS = 2
# Both arenas begin and end within a page of the heap: no kernel has asked for that.
PAGE_ENDS_BYTES = 4 * 4096
# The name the schema has for an operator that stands for a delegate's.
DELEGATE = "DELEGATE"
_SMALL_BYTES = 16
# A file may call in circles, or one subgraph from many places: beyond this it is not followed.
_DEEPEST = 40
_MOST_STEPS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakUsage:
    """The most that is there at once, part by part."""

    arena_bytes: int = 0
    persistent_bytes: int = 0
    kept_bytes: int = 0  # weights that kernels have packed for good
    workspace_bytes: int = 0  # operands being packed, weights being unpacked
    called_bytes: int = 0  # arenas of subgraphs that operators call
    delegate_bytes: int = 0  # what a delegate has on the heap, with the gaps that others did not fill

    @property
    def bytes(self) -> int:
        """All of it."""
        own = self.arena_bytes + self.persistent_bytes + self.kept_bytes
        return own + self.workspace_bytes + self.called_bytes + self.delegate_bytes


@dataclass(slots=True)
class _Buffer:
    """An arena of a called subgraph, one piece of the heap: ResizableAlignedBuffer in the same file."""

    heap: GlibcHeap
    size: int = 0
    written: int = 0
    _piece: HeapBlock | None = None

    def resize(self, size: int, look: Callable[[], None]) -> None:
        """Replace it by a larger one, into which all of it is copied."""
        if size <= self.size:
            return
        larger = self.heap.allocate(size, aligned=True, written=False)
        self.heap.write(larger, self.size)
        look()
        self.free()
        self._piece, self.size, self.written = larger, size, self.size

    def write(self, size: int) -> None:
        """Write to so many bytes that were not written to before."""
        self.written = min(self.size, self.written + size)
        if self._piece is not None:
            self.heap.write(self._piece, self.written)

    def free(self) -> None:
        """Give it back."""
        if self._piece is not None:
            self.heap.free(self._piece)
        self._piece, self.size, self.written = None, 0, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateHeap:
    """The heap with what a delegate has packed; `prepare` makes its n-th run of a subgraph ready."""

    heap: GlibcHeap
    prepare: Callable[[int, int], None]


class _MainArena:
    """An arena of the main subgraph, a piece of the heap; `pages` are those that were written to."""

    def __init__(self, heap: GlibcHeap, last_bytes: int) -> None:
        """Not asked for yet; it will have `last_bytes` in the end."""
        self._heap, self._piece, self._size = heap, heap.allocate(0), 0
        self.pages = PageMap(last_bytes)

    def resize(self, size: int, look: Callable[[], None]) -> None:
        """Ask for it; one that is too small for a later stage is copied to a larger one."""
        if size <= self._size:
            return
        larger = self._heap.allocate(size, aligned=True, written=False)
        if self._size:
            self._heap.write(larger, self._size)
            self.pages.touch(0, self._size)
            look()
        self._heap.free(self._piece)
        self._piece, self._size = larger, size

    def touch(self, offset: int, size: int) -> None:
        """Write to a tensor."""
        self.pages.touch(offset, size)
        self._heap.write(self._piece, size, at=offset)


@dataclass(slots=True)
class _Running:
    """The state of a process in which a model runs."""

    layouts: Mapping[int, SubgraphLayout]
    plain: bool  # reference kernels use no library
    fresh: bool  # there are no gaps in the heap yet
    heap: GlibcHeap
    prepare_run: Callable[[int, int], None]
    ruy: RuyArena = field(init=False)
    arena: _MainArena = field(init=False)
    persistent: _MainArena = field(init=False)
    delegate_bytes: int = field(init=False)
    stack: int = 0
    kept: int = 0
    buffers: dict[tuple[int, bool], _Buffer] = field(default_factory=dict)  # by subgraph, persistent or not
    depth: int = 0
    steps: int = 0  # operators of called subgraphs that were run
    written: dict[int, int] = field(default_factory=dict)  # what each called subgraph writes to
    called_most: int = 0
    most: PeakUsage = field(default_factory=PeakUsage)

    def __post_init__(self) -> None:
        """Ruy's room and all arenas are on the same heap."""
        self.delegate_bytes = self.heap.resident_bytes
        self.ruy = RuyArena(self.heap)
        self.arena = _MainArena(self.heap, self.layout.arena.size_bytes)
        self.persistent = _MainArena(self.heap, self.layout.persistent.size_bytes)

    @property
    def layout(self) -> SubgraphLayout:
        """That of the main subgraph."""
        return self.layouts[0]

    def touch(self, tensors: Iterable[int]) -> None:
        """Write to tensors of the main subgraph."""
        table = self.layout.preparation.table
        for tensor in tensors:
            if tensor in table.unwritten:
                continue
            for offsets, arena in (
                (self.layout.offsets, self.arena),
                (self.layout.persistent_offsets, self.persistent),
            ):
                if tensor in offsets:
                    arena.touch(offsets[tensor], table.bytes[tensor])

    def prepare(self, layout: SubgraphLayout, stage: int) -> None:
        """What kernels take when a stage is prepared: a delegate its workspace, callers the arenas they call.

        Callers allocate what they call when they are prepared: tflite/kernels/while.cc, if.cc.
        """
        preparation = layout.preparation
        first, last = preparation.stages[stage]
        kinds = [node.operator.type for node in preparation.nodes[: last + 1]]
        for index, node in enumerate(preparation.nodes[first : last + 1], first):
            if kinds[index] == DELEGATE:
                before = self.heap.resident_bytes
                self.prepare_run(preparation.subgraph.index, kinds[:index].count(DELEGATE))
                self.delegate_bytes += self.heap.resident_bytes - before
            for called in node.operator.subgraphs() if kinds[index] != "CALL_ONCE" else ():
                if called and called in self.layouts and (called, False) not in self.buffers:
                    self.buffers[called, False] = _Buffer(self.heap)
                    self.prepare(self.layouts[called], 0)
                    self.buffers[called, False].resize(self.layouts[called].grown[0][0], self._look)

    def place(self, stage: int) -> None:
        """The main arenas, once a stage is prepared: tflite/core/subgraph.cc, PrepareOpsAndTensors."""
        self.prepare(self.layout, stage)
        for arena, size in zip((self.arena, self.persistent), self.layout.grown[stage], strict=True):
            arena.resize(size, self._look)

    def _arena_of(self, called: int) -> _Buffer:
        """The arena of a called subgraph, as it is now."""
        return self.buffers.setdefault((called, False), _Buffer(self.heap))

    def execute(self, preparation: Preparation, index: int, first: bool) -> None:
        """Run an operator, and the subgraphs it calls."""
        operator = preparation.nodes[index].operator
        for called in operator.subgraphs():
            if called and called in self.layouts and self.depth < _DEEPEST and self.steps < _MOST_STEPS:
                self.depth += 1
                self._call(self.layouts[called], loops=operator.type == "WHILE")
                self.depth -= 1
        view = preparation.view(index)
        self._compute(heap_use_of(view), None if self.plain else product_of(view), first)

    def _call(self, layout: SubgraphLayout, *, loops: bool) -> None:
        """Run a called subgraph. Its arena is asked for anew each time, and given back afterwards.

        AllocateTensors and ReleaseMemory in tflite/kernels/while.cc, if.cc. What is persistent stays.
        """
        preparation = layout.preparation
        index = preparation.subgraph.index
        first = (index, True) not in self.buffers
        persistent = self.buffers.setdefault((index, True), _Buffer(self.heap))
        persistent.resize(layout.persistent.size_bytes, self._look)
        persistent.write(layout.persistent.size_bytes)
        arena = self._arena_of(index)
        written = self.written.setdefault(index, _written_bytes(layout) if first else 0)
        for sizes in (_sizes_at_first(layout), _sizes_in_later_rounds(layout) if loops else ()):
            for size in sizes:
                arena.resize(size, self._look)
            if sizes:
                arena.write(written)
                self.steps += len(preparation.nodes) + 1
                for number in range(len(preparation.nodes)):
                    self.execute(preparation, number, first)
                first = False
        arena.free()

    def _compute(self, own: HeapUse, product: MatrixProduct | None, first: bool) -> None:
        """A kernel at work: what it takes for itself, and what its library packs."""
        self.kept += own.kept if first else 0
        own_bytes = own.each + (own.once if first else 0)
        taken = [self.heap.allocate(own_bytes)] if own_bytes else []
        if taken and own.with_small and self.fresh:
            self.heap.allocate(_SMALL_BYTES)
        pieces = () if product is None else packed_pieces(product)
        if product is not None and product.eigen:
            self.stack = max(self.stack, sum(size for size in pieces if size <= STACK_BYTES))
            taken += [self.heap.allocate(size) for size in pieces if size > STACK_BYTES]
        elif product is not None:
            self.ruy.pack(pieces)
        self._look()
        self.ruy.release()
        for piece in reversed(taken):
            self.heap.free(piece)

    def _look(self) -> None:
        called = sum(buffer.written for buffer in self.buffers.values())
        self.called_most = max(self.called_most, called)
        arena, persistent = self.arena.pages.bytes, self.persistent.pages.bytes
        more = self.heap.resident_bytes - arena - persistent - called
        delegate = min(self.delegate_bytes, more)  # the rest of it is gaps that were filled
        now = PeakUsage(
            arena_bytes=arena,
            persistent_bytes=persistent,
            kept_bytes=self.kept,
            workspace_bytes=(more - delegate if more - delegate > PAGE_ENDS_BYTES else 0) + self.stack,
            called_bytes=called,
            delegate_bytes=delegate,
        )
        if now.bytes > self.most.bytes:
            self.most = now


def most_at_once(
    layouts: Mapping[int, SubgraphLayout], plain: bool, delegate: DelegateHeap | None = None
) -> PeakUsage:
    """The worst moment of two runs, for libraries may take more in the second; reference kernels use none.

    On a fresh heap small pieces come from its end; a delegate, if its heap is given, leaves gaps for them.
    """
    used = delegate or DelegateHeap(heap=GlibcHeap(), prepare=lambda _subgraph, _run: None)
    state = _Running(layouts, plain, delegate is None, used.heap, used.prepare)
    preparation = layouts[0].preparation
    state.place(0)
    early = (tensor.index for tensor in preparation.table.tensors if tensor.is_variable)
    state.touch((*preparation.inputs, *early))
    begins = {first: stage for stage, (first, _) in enumerate(preparation.stages) if stage}
    for run in range(_RUNS):
        state.steps = 0
        for index, node in enumerate(preparation.nodes):
            if run == 0 and index in begins:
                state.place(begins[index])
            state.touch((*node.outputs, *node.temporaries))
            state.execute(preparation, index, first=run == 0)
    return _with_gaps(state.most, state.called_most)


def _with_gaps(most: PeakUsage, called: int) -> PeakUsage:
    """Arenas that were given back and stay resident as gaps of the heap count as arenas, not as workspace."""
    gaps = min(called - most.called_bytes, most.workspace_bytes)
    workspace, called = most.workspace_bytes - gaps, most.called_bytes + gaps
    return replace(most, workspace_bytes=workspace, called_bytes=called)


def _written_bytes(layout: SubgraphLayout) -> int:
    """Pages of a called subgraph's arena that it writes to."""
    pages, table = PageMap(layout.arena.size_bytes), layout.preparation.table
    for tensor, offset in layout.offsets.items():
        if tensor not in table.unwritten:
            pages.touch(offset, table.bytes[tensor])
    return pages.bytes


def _sizes_at_first(layout: SubgraphLayout) -> tuple[int, ...]:
    """How large the arena of a called subgraph is, one stage after the other."""
    return tuple(arena for arena, _ in layout.grown)


def _sizes_in_later_rounds(layout: SubgraphLayout) -> tuple[int, ...]:
    """The same when a loop comes round; nothing if its sizes stay as they are.

    Tensors behind one whose size changes are placed again, and the planner takes those of the persistent
    arena for some of this one: ResetAllocationsAfter in tflite/arena_planner.cc hands all allocations to
    CalculateActiveAllocs. They are placed behind as many bytes.
    """
    table, lives = layout.preparation.table, layout.lives
    size, sizes = layout.persistent.size_bytes, []
    for first, last in layout.preparation.stages[1:]:
        later = (tensor for tensor in layout.offsets if first <= lives.made[tensor] <= last)
        size += sum(-(-table.bytes[tensor] // ALIGNMENT_BYTES) * ALIGNMENT_BYTES for tensor in later)
        sizes.append(size)
    return tuple(sizes) if layout.persistent.size_bytes else ()
