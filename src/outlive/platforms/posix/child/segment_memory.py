"""Segments of shared memory as the system makes, checks, maps and hands them on."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import socket
import struct
import sys
import weakref
from typing import Any

from .anonymous_files import anonymous_file

# asm-generic/mman-common.h, MAP_FIXED also sys/mman.h of macOS; PROT_NONE for what is only reserved.
_NOTHING, _MAP_FIXED, _MAP_NORESERVE, _COLLAPSE = 0, 0x10, 0x4000, 25
_FAILED = ctypes.c_void_p(-1).value
# To copy 10 MB through pages of 4 KiB takes 2,560 of them, and in a virtual machine each costs two walks
# through page tables: an eighth of the copy, and as much again for the reader. Linux 6.1 and later put a
# piece of shared memory into large pages when asked to (MADV_COLLAPSE), whatever the system's setting is, if
# its address and its offset agree.
LARGE_BYTES = 2 << 20
_NUMBER = struct.Struct("i")
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)


def new_segment(size: int) -> int:
    """A descriptor of anonymous memory of this size that cannot be made shorter."""
    descriptor = anonymous_file("outlive-guard", sealed=True)
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_segment(descriptor: int, size: int) -> None:
    """ValueError or OSError unless this is memory of this size that cannot be made shorter.

    A process that reads memory that was made shorter after it was mapped is killed (SIGBUS).
    """
    import fcntl

    get: Any = getattr(fcntl, "F_GET_SEALS", None)  # systems without it have no seals: see `new_segment`
    # Before its size, which cannot become less from here on.
    if get is not None and not fcntl.fcntl(descriptor, get) & fcntl.F_SEAL_SHRINK:
        raise ValueError("a segment that can be made shorter")
    found = os.fstat(descriptor).st_size
    if not 0 < size <= found:
        raise ValueError("a segment of %d bytes that was said to have %d" % (found, size))


def make_private(mapping: Any) -> None:
    """In a forked child: put a copy of the memory in its place, so that what is written stays here."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    held = bytes(mapping)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
    if _libc().mmap(address, len(held), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) == address:
        bytes_of(mapping)[:] = held


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
        _libc().madvise(ctypes.addressof(mapping), len(mapping), _COLLAPSE)  # as well as it can be had


def bytes_of(mapping: Any) -> memoryview:
    """The memory as bytes."""
    return memoryview(mapping).cast("B")


def send_descriptor(rights: socket.socket, descriptor: int) -> None:
    """Give the process at the other end a descriptor; OSError or ValueError if it does not take it."""
    socket.send_fds(rights, [b"\0"], [descriptor])


def receive_descriptor(rights: socket.socket) -> int:
    """The descriptor that has been sent; OSError if none has."""
    space = socket.CMSG_LEN(_NUMBER.size)
    # Not `socket.recv_fds`: it forgets the flags that it is given (Lib/socket.py of 3.9 to 3.13).
    _, parts, _, _ = rights.recvmsg(1, space, _CLOSE_ON_EXEC | _AT_ONCE)
    for level, kind, data in parts:
        if (level, kind, len(data)) == (socket.SOL_SOCKET, socket.SCM_RIGHTS, _NUMBER.size):
            descriptor: int = _NUMBER.unpack(data)[0]
            if not _CLOSE_ON_EXEC:
                os.set_inheritable(descriptor, False)
            return descriptor
    raise OSError("no descriptor came")


def _map_aligned(descriptor: int, size: int) -> int | None:
    """Map at an address that large pages can have; None if there is no room."""
    library = _libc()
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
    _libc().munmap(address, size)


@functools.lru_cache(maxsize=None)
def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return library
