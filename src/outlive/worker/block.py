"""The memory that parent and worker share: anonymous, sealed against shrinking, gone with its users."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import weakref
from typing import Any

import numpy as np

from outlive.worker.child import wire
from outlive.worker.child.anonymous import anonymous_file
from outlive.worker.descriptors import reserve

_ALIGNMENT = 64
_PAGE_BYTES = mmap.PAGESIZE
_MAP_FIXED = 0x10  # asm-generic/mman-common.h, and sys/mman.h of macOS
_READ_WRITE = 1 | 2
_MAP_FAILED = ctypes.c_void_p(-1).value


class SharedBlock:
    """Memory that both sides map. The parent maps it again when tensors need more room."""

    def __init__(self) -> None:
        """Start with room for the words of the wire."""
        self.descriptor = anonymous_file("outlive-block", sealed=True)
        self._size = 0
        self.map: Any
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
        self.map = _map(self.descriptor, size)
        self.words = np.frombuffer(self.map, np.uint8).data[: wire.HEADER_BYTES].cast("I")
        self._size = size

    def part(self) -> None:
        """In a forked child of the program: make its copy of the block its own.

        What the child writes to its inputs must not reach the worker of its parent. The mapping is replaced
        where it lies, because arrays point into it.
        """
        address = np.frombuffer(self.map, np.uint8).ctypes.data
        held = bytes(self.map)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        if _libc_mmap()(address, self._size, _READ_WRITE, flags, -1, 0) == address:
            ctypes.memmove(address, held, len(held))

    def close(self) -> None:
        """Give the descriptor back; the memory goes when the last view of it goes."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _map(descriptor: int, size: int) -> Any:
    """Shared memory that is given back with the last view of it.

    Python's mmap keeps a copy of the descriptor for itself (until 3.13, `trackfd`), one for each interpreter.
    """
    if sys.platform != "linux":
        return mmap.mmap(descriptor, size)
    address = _libc_mmap()(None, size, _READ_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address == _MAP_FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    memory = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(memory, _libc().munmap, ctypes.c_void_p(address), ctypes.c_size_t(size)).atexit = False
    return memory


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _libc_mmap() -> Any:
    function = _libc().mmap
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    return function


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
