"""What a sequence of allocations leaves resident: the heap of glibc, page by page.

A piece from the threshold on is mapped by itself and given back when freed, which raises the threshold to its
size; smaller ones come from the heap, where a freed piece stays resident as a gap until something fits it, or
until the free end of the heap is long enough to be given back (malloc.c: sysmalloc, _int_free, systrim).
An aligned piece is cut out of a larger one, and the cuttings are kept in a list of small pieces: they hold it
apart from its neighbours also when it is free (_int_memalign).
"""

from bisect import bisect_left, insort
from typing import NamedTuple

_PAGE_BYTES = 4096
_MOST_PAGES = 1 << 20
_HEADER_BYTES = 16
_SMALLEST_BYTES = 32  # MINSIZE
_CUTTINGS_BYTES = 64 + _SMALLEST_BYTES  # the alignment comes first
_LARGEST_THRESHOLD = 32 * 1024 * 1024
_TOP_PAD_BYTES = 128 * 1024
# Threshold of a process that has loaded Python, numpy and LiteRT: they have mapped and freed pieces by then.
_STARTING_THRESHOLD = 212 * 1024
# Gaps smaller than this are not worth remembering: descriptors fill them.
_SMALLEST_GAP = 512
# Descriptors are smaller than this, and go where others of their size have been.
_SMALL_BYTES = 1024
_CONSOLIDATED_BYTES = 64 * 1024  # FASTBIN_CONSOLIDATION_THRESHOLD: freeing less gives nothing back


class HeapBlock(NamedTuple):
    """Memory that was asked for; an `offset` below zero is the number of a mapping of its own."""

    offset: int
    size: int


class PageMap:
    """Which pages of a block have been written to; of a very large one in coarser steps."""

    def __init__(self, size_bytes: int) -> None:
        """Nothing is written to yet."""
        self._size = size_bytes
        self._step = max(_PAGE_BYTES, -(-size_bytes // _MOST_PAGES))
        self._clean = bytearray(b"\1" * -(-size_bytes // self._step))
        self._count = 0

    def touch(self, offset: int, size: int) -> None:
        """Write to some bytes."""
        first, last = offset // self._step, -(-(offset + size) // self._step)
        self._count += sum(self._clean[first:last])
        self._clean[first:last] = bytes(len(self._clean[first:last]))

    @property
    def bytes(self) -> int:
        """What the system has given for it."""
        return min(self._count * self._step, self._size)


class GlibcHeap:
    """Pieces of memory, allocated and freed in the order the runtime does."""

    def __init__(self) -> None:
        """An empty heap with the thresholds of a process that is about to load a model."""
        self._threshold = _STARTING_THRESHOLD
        self._trim = 2 * _STARTING_THRESHOLD
        self._end = 0  # of the part in use
        self._break = 0  # of what the system has granted
        self._pages = bytearray()  # of the heap: 1 if written to
        self._written_pages = 0
        self._mappings: dict[int, PageMap] = {}
        self._mapped = 0  # bytes of mappings that were written to
        self._next = -1
        self.peak_bytes = 0  # the most there were at once
        self.has_small_gaps = False  # small pieces need not come from its end
        self._scattered = 0  # bytes of pieces in small gaps
        self._gaps: list[tuple[int, int]] = []  # (size, offset), smallest first
        self._starts: dict[int, int] = {}  # offset of a gap: its size
        self._stops: dict[int, int] = {}  # end of a gap: its offset

    @property
    def resident_bytes(self) -> int:
        """Bytes the process has more than before."""
        return self._written_pages * _PAGE_BYTES + self._mapped + self._scattered

    def allocate(self, size_bytes: int, *, aligned: bool = False, written: bool = True) -> HeapBlock:
        """A piece of memory, to be given to `free`; all of it is written to unless it is said not to be."""
        size = _rounded(size_bytes + _HEADER_BYTES, _HEADER_BYTES)
        whole = size + (_CUTTINGS_BYTES if aligned else 0)
        offset = self._find(whole)
        if offset is None and self.has_small_gaps and whole < _SMALL_BYTES:
            self._scattered += whole
            return self._map(0)
        if offset is None and whole >= self._threshold and not self._fits_end(whole):
            piece = self._map(_rounded(whole, _PAGE_BYTES))
        else:
            piece = HeapBlock(self._extend(whole) if offset is None else offset, size)
            self._touch(piece.offset, _HEADER_BYTES)
            self._touch(piece.offset + whole, _HEADER_BYTES)
        if written:
            self.write(piece, size_bytes)
        return piece

    def write(self, piece: HeapBlock, size_bytes: int, at: int = 0) -> None:
        """Write to so many bytes of a piece, from its beginning or `at` an offset."""
        if piece.offset < 0:
            pages = self._mappings[piece.offset]
            self._mapped -= pages.bytes
            pages.touch(at, size_bytes + _HEADER_BYTES)
            self._mapped += pages.bytes
        else:
            self._touch(piece.offset + at, size_bytes + _HEADER_BYTES)
        self.peak_bytes = max(self.peak_bytes, self.resident_bytes)

    def free(self, piece: HeapBlock) -> None:
        """Give a piece back."""
        offset, size = piece
        if offset < 0:
            self._mapped -= self._mappings.pop(offset).bytes
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
        else:
            self._end = offset
        if size >= _CONSOLIDATED_BYTES and self._break - self._end >= self._trim:
            self._give_back()

    def _map(self, size: int) -> HeapBlock:
        """A mapping of its own."""
        piece = HeapBlock(self._next, size)
        self._next -= 1
        self._mappings[piece.offset] = PageMap(size)
        return piece

    def _fits_end(self, size: int) -> bool:
        """True if the free end holds it: also what would be mapped otherwise."""
        return self._end + size + _SMALLEST_BYTES <= self._break

    def _find(self, size: int) -> int | None:
        """The smallest gap that holds it."""
        at = bisect_left(self._gaps, (size, -1))
        if at == len(self._gaps):
            return None
        gap, offset = self._gaps[at]
        self._forget(offset)
        self._remember(offset + size, gap - size)
        return offset

    def _extend(self, size: int) -> int:
        offset = self._end
        self._end += size
        if self._end + _SMALLEST_BYTES > self._break:
            self._break = _rounded(self._end + _SMALLEST_BYTES + _TOP_PAD_BYTES, _PAGE_BYTES)
            self._pages.extend(bytes(self._break // _PAGE_BYTES - len(self._pages)))
        return offset

    def _touch(self, offset: int, size: int) -> None:
        first, last = offset // _PAGE_BYTES, -(-(offset + size) // _PAGE_BYTES)
        pages = self._pages[first:last]
        self._written_pages += len(pages) - sum(pages)
        self._pages[first:last] = b"\1" * len(pages)

    def _give_back(self) -> None:
        self._break = _rounded(self._end + _TOP_PAD_BYTES, _PAGE_BYTES)
        kept = self._break // _PAGE_BYTES
        self._written_pages -= sum(self._pages[kept:])
        del self._pages[kept:]

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


def _rounded(size: int, step: int) -> int:
    return -(-size // step) * step
