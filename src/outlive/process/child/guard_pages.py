"""Mappings of shared memory, in large pages where the system can be brought to use them.

To copy 10 MB through pages of 4 KiB takes 2,560 of them, and in a virtual machine each costs two walks
through page tables: an eighth of the copy, and as much again for whoever reads it. Linux 6.1 and later put a
piece of shared memory into large pages when asked to (MADV_COLLAPSE), whatever the system's setting is, if
its address and its offset agree.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from typing import Any

LARGE_BYTES = 2 << 20
# asm-generic/mman-common.h; PROT_NONE for what is only reserved.
_NOTHING, _MAP_FIXED, _MAP_NORESERVE, _COLLAPSE = 0, 0x10, 0x4000, 25
_FAILED = ctypes.c_void_p(-1).value


def map_segment(descriptor: int, size: int) -> Any:
    """The memory behind a descriptor; ValueError or OSError if it is shorter, or cannot be had."""
    if sys.platform != "linux" or size < LARGE_BYTES or size % LARGE_BYTES:
        return mmap.mmap(descriptor, size)
    if os.fstat(descriptor).st_size < size:
        raise ValueError("the segment is shorter than it was said to be")
    address = _map_aligned(descriptor, size)
    if address is None:
        return mmap.mmap(descriptor, size)
    mapping = (ctypes.c_ubyte * size).from_address(address)
    # When nothing looks at it any more; at the end of the program something may still do.
    weakref.finalize(mapping, _unmap, address, size).atexit = False
    return mapping


def use_large_pages(mapping: Any) -> None:
    """Have a mapping that is used again and again in large pages, where that is possible."""
    if not isinstance(mapping, mmap.mmap):
        _library().madvise(ctypes.addressof(mapping), len(mapping), _COLLAPSE)  # as well as it can be had


def bytes_of(mapping: Any) -> memoryview:
    """The memory as bytes."""
    return memoryview(mapping).cast("B")


def _map_aligned(descriptor: int, size: int) -> int | None:
    """Map at an address that large pages can have; None if there is no room."""
    library = _library()
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    room = library.mmap(None, size + LARGE_BYTES, _NOTHING, private, -1, 0)
    if room == _FAILED or not room:
        return None
    start = room + -room % LARGE_BYTES
    wanted = mmap.PROT_READ | mmap.PROT_WRITE
    if library.mmap(start, size, wanted, mmap.MAP_SHARED | _MAP_FIXED, descriptor, 0) != start:
        library.munmap(room, size + LARGE_BYTES)
        return None
    if start > room:
        library.munmap(room, start - room)
    library.munmap(start + size, room + LARGE_BYTES - start)
    return int(start)


def _unmap(address: int, size: int) -> None:
    _library().munmap(address, size)


def _library() -> Any:
    if not _loaded:
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        _loaded.append(library)
    return _loaded[0]


_loaded: list[Any] = []
