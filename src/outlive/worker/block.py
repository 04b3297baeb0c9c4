"""The memory that parent and worker share: anonymous, sealed against shrinking, gone with its users."""

from __future__ import annotations

import mmap
import os

from outlive.worker.child import wire
from outlive.worker.descriptors import above_standard, anonymous_file, reserve

_ALIGNMENT = 64
_PAGE_BYTES = mmap.PAGESIZE
_MAP_FIXED = 0x10  # asm-generic/mman-common.h, and sys/mman.h of macOS


class SharedBlock:
    """Memory that both sides map. The parent maps it again when tensors need more room."""

    def __init__(self) -> None:
        """Start with room for the words of the wire."""
        self.descriptor = anonymous_file("outlive-block", sealed=True)
        self._size = 0
        self.map: mmap.mmap
        self.words: memoryview
        try:
            self.grow(wire.HEADER_BYTES)
        except BaseException:
            self.close()
            raise

    def grow(self, size: int) -> None:
        """Map at least `size` bytes; OSError if there is no room for them.

        Views of the old mapping stay valid: they are the same memory.
        """
        if size <= self._size:
            return
        reserve(self.descriptor, size)
        with above_standard():  # mmap keeps a descriptor of its own
            self.map = mmap.mmap(self.descriptor, size)
        self.words = memoryview(self.map)[: wire.HEADER_BYTES].cast("I")
        self._size = size

    def part(self) -> None:
        """In a forked child of the program: make its copy of the block its own.

        What the child writes to its inputs must not reach the worker of its parent. The mapping is replaced
        where it lies, because arrays point into it.
        """
        import ctypes

        address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        held = bytes(self.map)
        function = ctypes.CDLL(None, use_errno=True).mmap
        function.restype = ctypes.c_void_p
        function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        if function(address, self._size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) == address:
            self.map[: len(held)] = held

    def close(self) -> None:
        """Give the descriptor back; the memory goes when the last view of it goes."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def lay_out(pieces: list[tuple[int, int | None]]) -> tuple[list[int], int]:
    """Where tensors go in a block, and how large it has to be.

    A tensor is its size and, if its pages are to lie in the block, where in a page it starts, here as there.
    """
    offsets, end = [], wire.HEADER_BYTES
    for size, residue in pieces:
        if residue is not None:
            end += -end % _PAGE_BYTES + residue % _PAGE_BYTES
        offsets.append(end)
        end += size + -size % _ALIGNMENT
    return offsets, end
