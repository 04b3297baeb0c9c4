"""Segments of shared memory for large arguments and results: written once, read in place, used again.

    Outbox.place(buffers) ──> one segment, a copy of each buffer       Inbox.leases(...) ──> no copy
         ^                                                                   │
         └───────────── "given back", once the last array over it is gone ───┘

A segment is anonymous memory: it has no name that could stay behind, and goes with the last process that
maps it. It cannot be made shorter, or its reader would be killed at the next look.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import mmap
import os
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..posix.anonymous_files import anonymous_file

_ALIGNMENT = 64
_PAGE_BYTES = mmap.PAGESIZE
# asm-generic/mman-common.h, MAP_FIXED also sys/mman.h of macOS; PROT_NONE for what is only reserved.
_NOTHING, _MAP_FIXED, _MAP_NORESERVE, _COLLAPSE = 0, 0x10, 0x4000, 25
_FAILED = ctypes.c_void_p(-1).value
# To copy 10 MB through pages of 4 KiB takes 2,560 of them, and in a virtual machine each costs two walks
# through page tables: an eighth of the copy, and as much again for the reader. Linux 6.1 and later put a
# piece of shared memory into large pages when asked to (MADV_COLLAPSE), whatever the system's setting is, if
# its address and its offset agree.
LARGE_BYTES = 2 << 20
# Segments that lie ready for the next call; a warm one saves the system the clearing of pages.
_MOST_READY, _MOST_READY_BYTES = 4, 256 << 20
# What a cache may hold; what is larger has left it by the next call.
_MOST_CACHED_BYTES = 32 << 20
# A ready segment is used for what fills at least this share of it.
_LEAST_FILLED = 8


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


class Outbox:
    """The segments that this side writes."""

    def __init__(self, send_descriptor: Callable[[int], None]) -> None:
        """None yet; `send_descriptor` gives the other side a new one."""
        self._send_descriptor = send_descriptor
        self._maps: dict[int, Any] = {}
        self._ready: list[int] = []
        self._settled: set[int] = set()  # those that have been used again
        self._dropped: list[int] = []
        self._count = 0

    def place(self, buffers: list[memoryview]) -> Any:
        """Copy the buffers to a segment; what a frame has to say about it."""
        placed = self.reserve(buffers)
        self.fill(placed, buffers)
        return placed

    def reserve(self, buffers: list[memoryview]) -> Any:
        """A segment for the buffers, which are not copied yet; what a frame has to say about it."""
        spans, end = [], 0
        for buffer in buffers:
            spans.append((end, buffer.nbytes))
            end += buffer.nbytes + -buffer.nbytes % _ALIGNMENT
        number = self._find(end)
        dropped, self._dropped = self._dropped, []
        return number, len(self._maps[number]), spans, dropped

    def fill(self, placed: Any, buffers: list[memoryview]) -> None:
        """Copy the buffers to where they were to go."""
        number, _, spans, _ = placed
        target = bytes_of(self._maps[number])
        for (offset, size), buffer in zip(spans, buffers):
            if size:
                target[offset : offset + size] = buffer

    def freed(self, numbers: Sequence[int]) -> None:
        """The other side needs these no more."""
        for number in numbers:
            if number in self._maps and number not in self._ready:
                self._ready.append(number)
        while self._ready and self._too_many():
            oldest = self._ready.pop(0)
            del self._maps[oldest]
            self._settled.discard(oldest)
            self._dropped.append(oldest)

    def _too_many(self) -> bool:
        held = sum(len(self._maps[number]) for number in self._ready)
        return len(self._ready) > _MOST_READY or held > _MOST_READY_BYTES

    def _find(self, size: int) -> int:
        most = max(size, 1) * _LEAST_FILLED
        fitting = [number for number in self._ready if size <= len(self._maps[number]) <= most]
        if fitting and not self._wants_another(fitting, size):
            number = min(fitting, key=lambda one: len(self._maps[one]))
            self._ready.remove(number)
            if number not in self._settled:
                self._settled.add(number)
                use_large_pages(self._maps[number])
            return number
        return self._make(size)

    def _wants_another(self, fitting: list[int], size: int) -> bool:
        """True if one more is worth its memory: what was just read still lies in another core's cache."""
        again = len(fitting) == 1 and fitting[0] in self._settled
        return again and LARGE_BYTES <= size <= _MOST_CACHED_BYTES and len(self._maps) == 1

    def _make(self, size: int) -> int:
        # A little more than asked for: the next call's arrays may be a little larger.
        whole = size + size // 8
        whole += -whole % (_PAGE_BYTES if whole < LARGE_BYTES else LARGE_BYTES)
        whole = max(whole, _PAGE_BYTES)
        descriptor = new_segment(whole)
        try:
            mapping = map_segment(descriptor, whole)
            self._send_descriptor(descriptor)
        finally:
            os.close(descriptor)
        self._count += 1
        self._maps[self._count] = mapping
        return self._count


class Inbox:
    """The segments that the other side writes and this side reads, and how long each is still needed."""

    def __init__(self, receive_descriptor: Callable[[], int]) -> None:
        """None yet; `receive_descriptor` gives the descriptor of a new one."""
        self._receive_descriptor = receive_descriptor
        self._maps: dict[int, Any] = {}
        self._settled: set[int] = set()  # those that have been used again
        self._watched: dict[int, list[weakref.ref[Any]]] = {}
        self._ended: collections.deque[int] = collections.deque()

    def leases(self, number: int, size: int, spans: list[tuple[int, int]]) -> list[Any]:
        """The buffers of a segment, without a copy; it is given back when all of them are gone."""
        mapping = self._maps.get(number)
        if mapping is None:
            mapping = self._maps[number] = self._open(size)
        elif number not in self._settled:
            self._settled.add(number)
            use_large_pages(mapping)
        found: list[Any] = []
        watched = self._watched.setdefault(number, [])
        for offset, length in spans:
            lease = (ctypes.c_ubyte * length).from_buffer(mapping, offset)
            watched.append(weakref.ref(lease, functools.partial(self._note_end, number)))
            found.append(lease)
        return found

    def _note_end(self, number: int, _: Any) -> None:
        self._ended.append(number)

    def drop(self, numbers: Sequence[int]) -> None:
        """The other side will not use these again."""
        for number in numbers:
            self._maps.pop(number, None)
            self._settled.discard(number)

    def take_freed(self) -> list[int]:
        """The segments that nothing on this side looks at any more."""
        if not self._ended:
            return []
        freed = []
        ended = {self._ended.popleft() for _ in range(len(self._ended))}
        for number in ended:
            watched = self._watched.get(number)
            if watched is not None and all(one() is None for one in watched):
                del self._watched[number]
                freed.append(number)
        return freed

    def mappings(self) -> list[Any]:
        """The memory that is in use here, for a fork that has to part from it."""
        return [self._maps[number] for number in self._watched if number in self._maps]

    def _open(self, size: int) -> Any:
        descriptor = self._receive_descriptor()
        try:
            check_segment(descriptor, size)
            return map_segment(descriptor, size)
        finally:
            os.close(descriptor)
