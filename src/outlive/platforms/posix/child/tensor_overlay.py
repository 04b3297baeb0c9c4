"""Tensors that lie in the shared block itself: its pages are put in the place of the runtime's own.

Without this a large input is copied into the block by the parent and out of it again by the worker. The
runtime cannot be told where to keep a tensor, but the kernel can be told which memory an address means: whole
pages of the tensor are mapped from the block, and only the bytes before and after them are still copied.

The pages must be given back before the runtime frees the tensor, or its heap would hand them out again:
`Overlay.lift` is called before anything that may allocate. Linux only; elsewhere tensors are copied.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from typing import Any, List, Optional, Tuple

from .own_process import map_pages

# Below this a copy takes no longer than the messages around it.
SMALLEST_BYTES = 64 << 10
_PAGE = mmap.PAGESIZE
_MAP_FIXED = 0x10  # asm-generic/mman-common.h


def address(piece: Any) -> int:
    """Where bytes lie."""
    import numpy  # here, because a child process without a runtime loads this module too

    found: int = numpy.frombuffer(piece, numpy.uint8).__array_interface__["data"][0]
    return found


def can_cover() -> bool:
    """True where this is done at all."""
    return sys.platform == "linux"


class Overlay:
    """The pages of one tensor that lie in the block."""

    def __init__(self, block: int, native: Any, shared: Any, offset: int) -> None:
        """Put them there, with what they hold; OSError if the kernel refuses."""
        self._block = block
        start = address(native)
        self.first: int = -(-start // _PAGE) * _PAGE
        self.last: int = (start + native.nbytes) // _PAGE * _PAGE
        self._head, self._tail = self.first - start, self.last - start
        shared[self._head : self._tail] = native[self._head : self._tail]
        map_pages(self.first, self.size, mmap.MAP_SHARED | _MAP_FIXED, block, offset + self._head)

    @property
    def size(self) -> int:
        """How many bytes need no copying."""
        return self.last - self.first

    def edges(self, native: Any, shared: Any) -> List[Tuple[Any, Any]]:
        """The bytes before and after the pages, as they are in the tensor and in the block."""
        spans = ((0, self._head), (self._tail, native.nbytes))
        return [(native[start:stop], shared[start:stop]) for start, stop in spans if start < stop]

    def lift(self, keep: bool = True) -> None:
        """Give the tensor memory of its own again, with what it holds if that is still needed."""
        held = ctypes.string_at(self.first, self.size) if keep else b""
        map_pages(self.first, self.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED)
        ctypes.memmove(self.first, held, len(held))

    def is_there(self) -> bool:
        """True if its pages are still those of the block: the runtime may have given the memory back."""
        number = os.fstat(self._block).st_ino
        covered = 0
        with open("/proc/self/maps") as file:
            for line in file:
                span, _, _, _, inode = line.split(None, 5)[:5]
                start, stop = (int(word, 16) for word in span.split("-"))
                if int(inode) == number:
                    covered += max(0, min(stop, self.last) - max(start, self.first))
        return covered == self.size


def page_residue(native: Any) -> Optional[int]:
    """Where in a page the tensor starts, if it is one that is worth covering; None if not."""
    if native is None or native.nbytes < SMALLEST_BYTES or not can_cover():
        return None
    return address(native) % _PAGE


def cover(block: int, rows: List[Tuple[int, Any, Any, int]]) -> dict[int, Overlay]:
    """Overlays for tensors (index, native bytes, shared bytes, offset in the block), by index.

    None at all if two of them share memory, which a page can do for one only.
    """
    chosen = [row for row in rows if page_residue(row[1]) == row[3] % _PAGE]
    spans = sorted((address(native), native.nbytes) for _, native, _, _ in chosen)
    for (start, size), (following, _) in zip(spans, spans[1:]):  # noqa: RUF007 - Python 3.8
        if following < start + size:
            return {}
    return {index: Overlay(block, native, shared, offset) for index, native, shared, offset in chosen}
