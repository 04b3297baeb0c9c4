"""The best fit where very many tensors are alive at once: the same search over arrays sorted by offset."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

ALIGNMENT_BYTES = 64  # kDefaultTensorAlignment: LiteRT, tflite/util.h
# Offsets beyond this are not computed in 64 bits.
LARGEST_BYTES = 2**55
# Rows: offset, end, first operator, last operator.
_Row = tuple[int, int, int, int]


@dataclass(slots=True)
class Crowd:
    """All tensors of an arena in columns, sorted by offset; new ones wait until they are needed."""

    _waiting: list[_Row] = field(default_factory=list)
    _table: Column | None = None

    def add(self, row: _Row) -> None:
        """One more tensor."""
        self._waiting.append(row)

    def best_fit(self, size_bytes: int, first: int, last: int) -> int:
        """Where a tensor goes by the rules of `best_fit.fitted`: only gaps that hold it are looked at."""
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
        assert self._table is not None, "a crowd is asked only when there is one"
        return self._table
