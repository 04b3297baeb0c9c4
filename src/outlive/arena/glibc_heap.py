"""What a sequence of allocations leaves resident: the heap of glibc, as far as large pieces go.

A piece from the threshold on is mapped by itself and given back when freed, which raises the threshold to its
size; smaller ones come from the heap, where a freed piece stays resident as a gap until something fits it, or
until the free end of the heap is long enough to be given back (malloc.c: sysmalloc, _int_free, systrim).
"""

from __future__ import annotations

from bisect import bisect_left, insort

_PAGE_BYTES = 4096
_HEADER_BYTES = 16
_ALIGNED_BYTES = 64
_SMALLEST_THRESHOLD = 128 * 1024
_LARGEST_THRESHOLD = 32 * 1024 * 1024
_KEPT_AT_END = 128 * 1024
# Gaps smaller than this are not worth remembering: descriptors fill them.
_SMALLEST_GAP = 512


class Heap:
    """Pieces of memory, allocated and freed in the order the runtime does."""

    def __init__(self) -> None:
        """An empty heap with the default thresholds."""
        self._threshold = _SMALLEST_THRESHOLD
        self._trim = _SMALLEST_THRESHOLD
        self._end = 0  # of the part in use
        self._resident = 0  # how far the heap has been touched and not given back
        self._mapped = 0
        self.peak_bytes = 0  # the most there were at once
        self._gaps: list[tuple[int, int]] = []  # (size, offset), smallest first
        self._starts: dict[int, int] = {}  # offset of a gap: its size
        self._stops: dict[int, int] = {}  # end of a gap: its offset

    @property
    def resident_bytes(self) -> int:
        """Bytes the process has more than before."""
        return self._resident + self._mapped

    def allocate(self, size_bytes: int, *, aligned: bool = False) -> tuple[int, int]:
        """A piece of memory, all of it written to; to be given to `free`."""
        size = size_bytes + _HEADER_BYTES + (_ALIGNED_BYTES if aligned else 0)
        if size >= self._threshold:
            size = -(-size // _PAGE_BYTES) * _PAGE_BYTES
            self._mapped += size
            self._watch()
            return -1, size
        size = -(-size // _HEADER_BYTES) * _HEADER_BYTES
        at = bisect_left(self._gaps, (size, -1))
        if at < len(self._gaps):
            gap, offset = self._gaps[at]
            self._forget(offset)
            self._remember(offset + size, gap - size)
            return offset, size
        offset = self._end
        self._end += size
        self._resident = max(self._resident, self._end)
        self._watch()
        return offset, size

    def _watch(self) -> None:
        self.peak_bytes = max(self.peak_bytes, self.resident_bytes)

    def free(self, piece: tuple[int, int]) -> None:
        """Give a piece back."""
        offset, size = piece
        if offset < 0:
            self._mapped -= size
            if self._threshold < size <= _LARGEST_THRESHOLD:
                self._threshold, self._trim = size, 2 * size
            return
        if offset in self._stops:
            start = self._stops[offset]
            size += self._forget(start)
            offset = start
        if offset + size in self._starts:
            size += self._forget(offset + size)
        if offset + size < self._end:
            self._remember(offset, size)
            return
        self._end = offset
        if self._resident - self._end >= self._trim:
            self._resident = self._end + _KEPT_AT_END

    def _remember(self, offset: int, size: int) -> None:
        if size < _SMALLEST_GAP:
            return
        insort(self._gaps, (size, offset))
        self._starts[offset] = size
        self._stops[offset + size] = offset

    def _forget(self, offset: int) -> int:
        size = self._starts.pop(offset)
        del self._stops[offset + size]
        del self._gaps[bisect_left(self._gaps, (size, offset))]
        return size
