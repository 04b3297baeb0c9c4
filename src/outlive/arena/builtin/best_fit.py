"""Where a tensor goes: the runtime's best fit among the tensors alive at the same time.

The rules are those of `SimpleMemoryArena::Allocate` (LiteRT, tflite/simple_memory_arena.cc). The runtime
looks at all tensors it has placed; here only those alive at the same time are looked at, found in an
index of operator ranges, so that a chain of ten thousand operators does not cost a hundred million steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outlive.arena.interval_index import IntervalIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]


ALIGNMENT_BYTES = 64  # kDefaultTensorAlignment: LiteRT, tflite/util.h
# Offsets beyond this are not computed in 64 bits.
_LARGEST_BYTES = 2**55
# Rows: offset, end, first operator, last operator.
_Row = tuple[int, int, int, int]
FOREVER = 2**31 - 1  # kNodeNotAssigned: LiteRT, tflite/arena_planner.cc
# More tensors alive at once than this are searched in arrays.
_CROWDED = 96
# Steps before the search is given up and tensors are put at the end (a bound, not the truth): a file can ask
# for work that grows with the square of its operators.
_PATIENCE = 8_000_000
_ROWS_PER_STEP = 5  # what arrays do in the time of one step


def aligned(offset: int) -> int:
    """The next offset a tensor may start at."""
    return -(-offset // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


@dataclass(slots=True)
class _SortedSpans:
    """All tensors of an arena in columns, sorted by offset; new ones wait until they are needed.

    Where very many tensors are alive at once, the best fit is searched in these arrays.
    """

    _waiting: list[_Row] = field(default_factory=list)
    _table: Column | None = None

    def add(self, row: _Row) -> None:
        """One more tensor."""
        self._waiting.append(row)

    def best_fit(self, size_bytes: int, first: int, last: int) -> int:
        """Where a tensor goes by the rules of `fitted`: only gaps that hold it are looked at."""
        import numpy as np

        table = self._sorted()
        _, _, made, freed = table
        offsets, ends = table[:2, (freed >= first) & (made <= last)]
        reached = np.concatenate((np.zeros(1, np.int64), np.maximum.accumulate(ends)))
        candidates = -(-reached // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        best_offset = best_gap = -1
        for gap in np.nonzero(candidates[:-1] + size_bytes <= offsets)[0]:
            start, candidate = int(offsets[gap]), int(candidates[gap])
            if best_offset < 0 or start - candidate < best_gap:
                best_offset, best_gap = candidate, start - int(reached[gap])
            if best_gap == 0:
                break
        return best_offset if best_offset >= 0 else int(candidates[-1])

    def _sorted(self) -> Column:
        import numpy as np

        if self._table is not None and len(self._waiting) == 1:
            place = int(np.searchsorted(self._table[0], self._waiting[0][0], side="right"))
            self._table = np.insert(self._table, place, self._waiting[0], axis=1)
        elif self._waiting:
            new = np.array(self._waiting, np.int64).T
            both = new if self._table is None else np.concatenate((self._table, new), axis=1)
            self._table = np.ascontiguousarray(both[:, np.argsort(both[0], kind="stable")])
        self._waiting.clear()
        assert self._table is not None, "only a crowded arena is searched so"
        return self._table


@dataclass(slots=True)
class BestFitArena:
    """One arena being filled: `place` gives each tensor the offset that the runtime would give it."""

    operators: int
    size_bytes: int = 0
    exhausted: bool = False  # True if offsets are no longer the runtime's
    _spans: IntervalIndex[tuple[int, int]] = field(init=False)  # (offset, end)
    _sorted_spans: _SortedSpans = field(default_factory=_SortedSpans)
    _placed: int = 0
    _only_forever: bool = True
    _work: int = 0

    def __post_init__(self) -> None:
        self._spans = IntervalIndex(self.operators)

    def place(self, size_bytes: int, first: int, last: int) -> int:
        """The offset of a tensor alive from one operator to another, both included."""
        if size_bytes == 0:
            return 0
        offset = self._offset(size_bytes, first, last)
        self._spans.add(first, last, (offset, offset + size_bytes))
        self._sorted_spans.add((offset, offset + size_bytes, first, last))
        self._placed += 1
        self.size_bytes = max(self.size_bytes, offset + size_bytes)
        return offset

    def _offset(self, size_bytes: int, first: int, last: int) -> int:
        if last >= FOREVER and self._only_forever:
            return aligned(self.size_bytes)  # all of them overlap in time and leave no gap
        self._only_forever = False
        if self._work + self._spans.work > _PATIENCE or self.size_bytes + size_bytes > _LARGEST_BYTES:
            self.exhausted = True
            return aligned(self.size_bytes)
        alive = self._spans.meeting(first, last, _CROWDED)
        self._work += 16
        if len(alive) <= _CROWDED:
            return fitted(sorted(alive), size_bytes)
        self._work += self._placed // _ROWS_PER_STEP
        return self._sorted_spans.best_fit(size_bytes, first, last)


def fitted(spans: list[tuple[int, int]], size_bytes: int) -> int:
    """The smallest gap that holds it; else the end of the last tensor. The spans are sorted by offset.

    A gap is measured from its aligned start when it is compared and from its true start when it is kept: the
    runtime does so, and a later gap can win by that difference.
    """
    best_offset = -1
    best_gap = -1
    current = 0
    for start, end in spans:
        candidate = aligned(current)
        if candidate + size_bytes <= start and (best_offset < 0 or start - candidate < best_gap):
            best_offset = candidate
            best_gap = start - current
        current = max(current, end)
        if best_gap == 0:
            break
    return best_offset if best_offset >= 0 else aligned(current)
