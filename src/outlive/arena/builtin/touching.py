"""What a run really takes, operator by operator: pages of the arenas it has written to, heap of its kernels.

An arena is reserved as a whole, but the system gives a page when it is first written to. Much of a large one
may never be, and what kernels take for a moment of the first run comes before later ones have written theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from outlive.arena.builtin.eigen import STACK_BYTES
from outlive.arena.builtin.packing import Product, RuyArena, product_of
from outlive.arena.builtin.placing import Layout
from outlive.arena.builtin.preparing import Preparation
from outlive.arena.builtin.unpacking import Own, own_of
from outlive.arena.glibc_heap import Heap

_PAGE_BYTES = 4096
# Larger arenas are looked at in coarser steps.
_MOST_PAGES = 1 << 20
_RUNS = 2
_SMALL_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The most that is there at once, part by part."""

    arena_bytes: int = 0
    persistent_bytes: int = 0
    kept_bytes: int = 0  # weights that kernels have packed for good
    workspace_bytes: int = 0  # operands being packed, weights being unpacked

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.arena_bytes + self.persistent_bytes + self.kept_bytes + self.workspace_bytes


class _Pages:
    """Which pages of an arena have been written to."""

    def __init__(self, size_bytes: int) -> None:
        self._size = size_bytes
        self._step = max(_PAGE_BYTES, -(-size_bytes // _MOST_PAGES))
        self._clean = bytearray(b"\1" * -(-size_bytes // self._step))
        self._count = 0

    def touch(self, offset: int, size: int) -> None:
        first, last = offset // self._step, -(-(offset + size) // self._step)
        self._count += sum(self._clean[first:last])
        self._clean[first:last] = bytes(len(self._clean[first:last]))

    @property
    def bytes(self) -> int:
        return min(self._count * self._step, self._size)


@dataclass(slots=True)
class _Running:
    """The state of a process in which a model runs."""

    layout: Layout
    arena: _Pages
    persistent: _Pages
    heap: Heap = field(default_factory=Heap)
    ruy: RuyArena = field(init=False)
    stack: int = 0
    kept: int = 0
    most: Moment = field(default_factory=Moment)

    def __post_init__(self) -> None:
        """Ruy's room is on the same heap."""
        self.ruy = RuyArena(self.heap)

    def touch(self, tensors: Iterable[int]) -> None:
        table = self.layout.preparation.table
        for tensor in tensors:
            if tensor in table.unwritten:
                continue
            for offsets, pages in (
                (self.layout.offsets, self.arena),
                (self.layout.persistent_offsets, self.persistent),
            ):
                if tensor in offsets:
                    pages.touch(offsets[tensor], table.bytes[tensor])

    def grow(self, stage: int) -> None:
        """Arenas too small for a later stage are copied to larger ones: tflite/simple_memory_arena.cc."""
        sizes = zip(self.layout.grown[stage - 1], self.layout.grown[stage], strict=True)
        for pages, (old, new) in zip((self.arena, self.persistent), sizes, strict=True):
            if 0 < old < new:
                pages.touch(0, old)
                piece = self.heap.allocate(old)
                self._look()
                self.heap.free(piece)

    def compute(self, own: Own, product: Product | None, first: bool) -> None:
        """A kernel at work: what it takes for itself, and what its library packs."""
        self.kept += own.kept if first else 0
        own_bytes = own.each + (own.once if first else 0)
        taken = [self.heap.allocate(own_bytes)] if own_bytes else []
        if taken and own.with_small:
            self.heap.allocate(_SMALL_BYTES)
        if product is not None and product.eigen:
            self.stack = max(self.stack, sum(size for size in product.pieces if size <= STACK_BYTES))
            taken += [self.heap.allocate(size) for size in product.pieces if size > STACK_BYTES]
        elif product is not None:
            self.ruy.pack(product.pieces)
        self._look()
        self.ruy.release()
        for piece in reversed(taken):
            self.heap.free(piece)

    def _look(self) -> None:
        now = Moment(
            arena_bytes=self.arena.bytes,
            persistent_bytes=self.persistent.bytes,
            kept_bytes=self.kept,
            workspace_bytes=self.heap.resident_bytes + self.stack,
        )
        if now.bytes > self.most.bytes:
            self.most = now


def most_at_once(main: Layout, called: Sequence[Preparation], plain: bool) -> Moment:
    """The worst moment of two runs, for libraries may take more in the second; reference kernels use none."""
    state = _Running(main, _Pages(main.arena.size_bytes), _Pages(main.persistent.size_bytes))
    preparation = main.preparation
    early = (tensor.index for tensor in preparation.table.tensors if tensor.is_variable)
    state.touch((*preparation.inputs, *early))
    begins = {first: stage for stage, (first, _) in enumerate(preparation.stages) if stage}
    for run in range(_RUNS):
        for index, node in enumerate(preparation.nodes):
            if run == 0 and index in begins:
                state.grow(begins[index])
            state.touch((*node.outputs, *node.temporaries))
            _compute(state, preparation, index, plain, first=run == 0)
        for graph, index in _each(called):
            _compute(state, graph, index, plain, first=run == 0)
    return state.most


def _each(preparations: Sequence[Preparation]) -> Iterator[tuple[Preparation, int]]:
    return ((graph, index) for graph in preparations for index in range(len(graph.nodes)))


def _compute(state: _Running, preparation: Preparation, index: int, plain: bool, first: bool) -> None:
    product = None if plain else product_of(preparation.table, preparation.nodes[index])
    state.compute(own_of(preparation.situation(index)), product, first)
