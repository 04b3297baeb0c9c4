"""The memory that parent and worker share: anonymous, sealed against shrinking, gone with its users."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import weakref
from typing import Any

from outlive.platforms.posix.child.anonymous_files import anonymous_file
from outlive.platforms.posix.child.own_process import libc, map_pages
from outlive.platforms.posix.process.descriptors import reserve
from outlive.process.child import wire

_ALIGNMENT = 64
_PAGE_BYTES = mmap.PAGESIZE
_MAP_FIXED = 0x10  # asm-generic/mman-common.h, and sys/mman.h of macOS
_MAP_NORESERVE = 0x4000  # asm-generic/mman.h


class SharedBlock:
    """Memory that both sides map. The parent maps it again when tensors need more room."""

    def __init__(self) -> None:
        """Start with room for the words of the wire."""
        self.descriptor = anonymous_file("outlive-block", sealed=True)
        self._size = 0
        self.map: Any
        self._unmap: weakref.finalize[Any, Any] | None
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
        if self._size == 0 or size > len(self.map):
            self.map, self._unmap = _map(self.descriptor, size)
            self.words = _bytes_of(self.map).data[: wire.HEADER_BYTES].cast("I")
        self._size = size

    def hand_out(self, addresses: Addresses) -> None:
        """A caller gets an address in the mapping, and may use it when the mapping is not needed any more."""
        if self._unmap is None:
            addresses.keep(self.map)
        elif self._unmap.detach() is not None:
            address = ctypes.addressof(self.map)
            weakref.finalize(self.map, addresses.blank, address, len(self.map)).atexit = False

    def make_private(self) -> None:
        """In a forked child of the program: make its copy of the block its own.

        What the child writes to its inputs must not reach the worker of its parent. The mapping is replaced
        where it lies, because arrays point into it.
        """
        address = _bytes_of(self.map).ctypes.data
        held = ctypes.string_at(address, self._size)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
        with contextlib.suppress(OSError):
            map_pages(address, len(self.map), flags)
            ctypes.memmove(address, held, len(held))

    def close(self) -> None:
        """Give the descriptor back; the memory goes when the last view of it goes."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Addresses:
    """Addresses that callers got: they stay mapped until the interpreter and all views of it are gone.

    Programs keep them past a resize, as pointers that are not counted. LiteRT's arena is then other memory of
    the program's heap, so reading and writing there is survived. Here the mapping's pages are replaced by
    empty ones, which take memory only where they are written to. Mappings double in size: a worker has few.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._kept: list[Any] = []
        self._blank: list[tuple[int, int]] = []
        weakref.finalize(self, _unmap_all, self._blank).atexit = False

    def keep(self, memory: Any) -> None:
        """Hold a mapping that only its owner may unmap."""
        if not any(memory is one for one in self._kept):
            self._kept.append(memory)

    def blank(self, address: int, size: int) -> None:
        """Give back what the pages hold, and not the addresses."""
        # Shared pages are not counted against RLIMIT_DATA (is_data_mapping in mm/internal.h of Linux).
        flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _MAP_NORESERVE | _MAP_FIXED
        with contextlib.suppress(OSError):
            map_pages(address, size, flags)
            self._blank.append((address, size))


def _unmap_all(ranges: list[tuple[int, int]]) -> None:
    for address, size in ranges:
        _unmap(address, size)


def _unmap(address: int, size: int) -> None:
    libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))


def _bytes_of(mapping: Any) -> Any:
    """The mapping as an array of bytes."""
    import numpy as np  # guarded functions have no block, and their caller does not need numpy

    return np.frombuffer(mapping, np.uint8)


def _map(descriptor: int, size: int) -> tuple[Any, weakref.finalize[Any, Any] | None]:
    """Shared memory that is given back with the last view of it, and what gives it back.

    It reaches beyond the end of the file, to the next power of two: the file grows into it.
    Python's mmap keeps a copy of the descriptor for itself (until 3.13, `trackfd`), one for each interpreter.
    """
    if sys.platform != "linux":
        return mmap.mmap(descriptor, size), None
    size = 1 << (size - 1).bit_length()
    address = map_pages(None, size, mmap.MAP_SHARED, descriptor)
    memory = (ctypes.c_ubyte * size).from_address(address)
    finalizer = weakref.finalize(memory, _unmap, address, size)
    finalizer.atexit = False
    return memory, finalizer


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
