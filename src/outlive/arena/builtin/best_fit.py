"""Where a tensor goes: the runtime's best fit among the tensors alive at the same time.

The rules are those of `SimpleMemoryArena::Allocate` (LiteRT, tflite/simple_memory_arena.cc). The runtime
looks at all tensors it has placed; here only those alive at the same time are looked at, found through a
tree of operator ranges, so that a chain of ten thousand operators does not cost a hundred million steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from outlive.arena.builtin.crowd import ALIGNMENT_BYTES, LARGEST_BYTES, Crowd

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
class Arena:
    """One arena being filled: `place` gives each tensor the offset that the runtime would give it."""

    operators: int
    size_bytes: int = 0
    exhausted: bool = False  # True if offsets are no longer the runtime's
    _spans: list[tuple[int, int]] = field(default_factory=list)  # (offset, end) by placing
    _starting: dict[int, list[int]] = field(default_factory=dict)  # first operator -> placings
    _covering: dict[int, list[int]] = field(default_factory=dict)  # node of the tree -> placings
    _crowd: Crowd = field(default_factory=Crowd)
    _leaves: int = 0
    _only_forever: bool = True
    _work: int = 0

    def __post_init__(self) -> None:
        self._leaves = 1 << max(self.operators, 1).bit_length()

    def place(self, size_bytes: int, first: int, last: int) -> int:
        """The offset of a tensor alive from one operator to another, both included."""
        if size_bytes == 0:
            return 0
        offset = self._offset(size_bytes, first, last)
        self._remember(offset, offset + size_bytes, first, last)
        self.size_bytes = max(self.size_bytes, offset + size_bytes)
        return offset

    def _offset(self, size_bytes: int, first: int, last: int) -> int:
        if last >= FOREVER and self._only_forever:
            return aligned(self.size_bytes)  # all of them overlap in time and leave no gap
        self._only_forever = False
        if self._work > _PATIENCE or self.size_bytes + size_bytes > LARGEST_BYTES:
            self.exhausted = True
            return aligned(self.size_bytes)
        alive = self._alive(first, last)
        self._work += min(len(alive), _CROWDED) + 16
        if len(alive) <= _CROWDED:
            return fitted(sorted(self._spans[placing] for placing in alive), size_bytes)
        self._work += len(self._spans) // _ROWS_PER_STEP
        return self._crowd.best_fit(size_bytes, first, last)

    def _alive(self, first: int, last: int) -> list[int]:
        """The tensors whose lives touch these operators, or more than a few of them."""
        found: list[int] = []
        node = self._leaves + first
        while node:
            found += self._covering.get(node, ())
            node >>= 1
        if len(found) > _CROWDED:
            return found
        for start in self._starts(first + 1, min(last, self.operators)):
            found += self._starting.get(start, ())
            self._work += 1
            if len(found) > _CROWDED:
                break
        return found

    def _starts(self, first: int, last: int) -> Iterable[int]:
        """Operators at which a tensor may start, by the shorter way."""
        if last - first < len(self._starting):
            return range(first, last + 1)
        return (start for start in self._starting if first <= start <= last)

    def _remember(self, offset: int, end: int, first: int, last: int) -> None:
        placing = len(self._spans)
        self._spans.append((offset, end))
        self._crowd.add((offset, end, first, last))
        self._starting.setdefault(first, []).append(placing)
        low = self._leaves + first
        high = self._leaves + min(last, self._leaves - 1) + 1
        while low < high:
            if low & 1:
                self._covering.setdefault(low, []).append(placing)
                low += 1
            if high & 1:
                high -= 1
                self._covering.setdefault(high, []).append(placing)
            low >>= 1
            high >>= 1


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
