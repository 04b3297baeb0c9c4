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
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..operating_system import segment_memory
from . import message_frames as wire
from .lane import Lane, is_long

_ALIGNMENT = 64
_PAGE_BYTES = mmap.PAGESIZE
# Segments that lie ready for the next call; a warm one saves the system the clearing of pages.
_MOST_READY, _MOST_READY_BYTES = 4, 256 << 20
# What a cache may hold; what is larger has left it by the next call.
_MOST_CACHED_BYTES = 32 << 20
# A ready segment is used for what fills at least this share of it.
_LEAST_FILLED = 8


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
        target = segment_memory.bytes_of(self._maps[number])
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
                segment_memory.use_large_pages(self._maps[number])
            return number
        return self._make(size)

    def _wants_another(self, fitting: list[int], size: int) -> bool:
        """True if one more is worth its memory: what was just read still lies in another core's cache."""
        again = len(fitting) == 1 and fitting[0] in self._settled
        return again and segment_memory.LARGE_BYTES <= size <= _MOST_CACHED_BYTES and len(self._maps) == 1

    def _make(self, size: int) -> int:
        # A little more than asked for: the next call's arrays may be a little larger.
        whole = size + size // 8
        whole += -whole % (_PAGE_BYTES if whole < segment_memory.LARGE_BYTES else segment_memory.LARGE_BYTES)
        whole = max(whole, _PAGE_BYTES)
        descriptor = segment_memory.new_segment(whole)
        try:
            mapping = segment_memory.map_segment(descriptor, whole)
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
            segment_memory.use_large_pages(mapping)
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
            segment_memory.check_segment(descriptor, size)
            return segment_memory.map_segment(descriptor, size)
        finally:
            os.close(descriptor)


class FramePacker:
    """Makes the frames of one side; what is large goes to shared memory, before the frame or after it."""

    def __init__(self, outbox: Outbox, lane: Lane, rouse: Callable[[], None]) -> None:
        """`rouse` wakes the other side, if it sleeps, before a long copy: it need not be woken after it."""
        self._outbox, self._lane, self._rouse = outbox, lane, rouse
        self._late: Any = None

    def pack(
        self,
        kind: int,
        facts: Any,
        body: bytes,
        apart: list[memoryview],
        take_freed: Callable[[], Sequence[int]],
        late: bool = False,
        rest: bytes = b"",
    ) -> bytes:
        """A frame; `apart` are its large buffers, which may be copied `late`: see `copy_late`."""
        placed, inline = None, len(body) <= wire.MOST_INLINE_BYTES
        is_large = is_long(apart)
        number = self._lane.next_copy() if late and inline and is_large else 0
        if number:
            placed = self._outbox.reserve(apart)
            self._late = number, placed, apart
        elif apart or not inline:
            if is_large and self._lane.announce():
                self._rouse()
            placed = self._outbox.place(apart if inline else [*apart, memoryview(body)])
        return wire.pack(kind, facts, body if inline else b"", placed, take_freed(), number, rest)

    def copy_late(self) -> None:
        """Copy what the frame that was just sent speaks of, if it was sent before that."""
        late, self._late = self._late, None
        if late is not None:
            number, placed, apart = late
            self._outbox.fill(placed, apart)
            self._lane.note_copied(number)
