"""The short way between a caller and its worker: a slot in shared memory, while both are awake.

    sender:    bytes into the slot, count POSTED up; wakes the receiver through the socket if it sleeps
    receiver:  watches POSTED for a moment, then says that it sleeps, looks once more, and sleeps

To wake a process on another core costs several times what a small call does, and calls come in bursts. The
slot is used only when everything that went through the socket has been received, and the receiver looks into
the slot before it believes the socket: so nothing overtakes. On machines that may reorder stores (other than
x86), and on a single core, everything goes through the socket.

Of a large array the receiver may hear before it is copied. By the time it has found its way to the array, for
which it needs as long as a small call takes with cold caches, the copy is nearly done (COPIED).
"""

from __future__ import annotations

import array
import mmap
import platform
import time
from collections.abc import Iterable

from ..operating_system import own_process

SLOT_BYTES = 16384
_HEAD_BYTES = 256
_LANE_BYTES = _HEAD_BYTES + SLOT_BYTES
BLOCK_BYTES = 2 * _LANE_BYTES
# Words of a lane (32 bits each); those of the sender and those of the receiver in lines of their own.
_POSTED, _SIZE, _TOOK_US, _COMING, _COPIED = range(5)
_TAKEN, _SOCKET_HEARD, _STATE = 16, 17, 18
_ASLEEP, _AWAKE = 0, 1
DONE, WAKE, USE_SOCKET = range(3)
# What takes so long to copy that the receiver is roused before: it is awake by the time the copy is done.
LONG_BYTES = 1 << 18
# How long one that was roused waits awake.
ROUSED_NS = 2_000_000
_LOOKS = range(40)
_MASK = 0xFFFFFFFF


def is_worth_it() -> bool:
    """True where waiting awake pays: two cores, and memory that keeps its order."""
    return own_process.count_cores() >= 2 and platform.machine().lower() in ("x86_64", "amd64")


def is_long(buffers: Iterable[memoryview]) -> bool:
    """True if to copy them takes longer than to wake the receiver."""
    return sum(buffer.nbytes for buffer in buffers) >= LONG_BYTES


class Lane:
    """One direction; both sides have the same memory."""

    def __init__(self, block: mmap.mmap, number: int, used: bool) -> None:
        """Lane 0 leads to the worker, lane 1 to the caller."""
        start = number * _LANE_BYTES
        self.words = memoryview(block)[start : start + _HEAD_BYTES].cast("I")
        self._slot = memoryview(block)[start + _HEAD_BYTES : start + _LANE_BYTES]
        self._used = used
        self._sent = 0  # bytes through the socket, as the sender counts them
        self._empty = 0  # those at the end of them that only woke the receiver
        self._heard = 0

    def post(self, data: bytes) -> int:
        """Put a message into the slot: DONE, WAKE if the receiver sleeps, USE_SOCKET if it cannot be."""
        words, size = self.words, len(data)
        posted = words[_POSTED]
        free = posted == words[_TAKEN] and words[_SOCKET_HEARD] == self._sent
        if size > SLOT_BYTES or not self._used or not free:
            return USE_SOCKET
        self._slot[:size] = data
        words[_SIZE] = size
        words[_COMING] = 0
        words[_POSTED] = (posted + 1) & _MASK
        return DONE if words[_STATE] == _AWAKE else WAKE

    @property
    def took_ns(self) -> int:
        """How long the other side worked before its last message, as it says."""
        return self.words[_TOOK_US] * 1000

    def note_took(self, took_ns: int) -> None:
        """Say how long we worked before the next message."""
        self.words[_TOOK_US] = min(took_ns // 1000, _MASK)

    def announce(self) -> bool:
        """Say that a message comes after a long copy; True if the receiver sleeps and is to be roused."""
        if not self._used:
            return False
        self.words[_COMING] = 1
        return self.words[_STATE] == _ASLEEP

    def next_copy(self) -> int:
        """The number of a copy that is to come, if the receiver may be told of it before; 0 if it may not."""
        return (self.words[_COPIED] + 1) & _MASK if self._used else 0

    def note_copied(self, number: int) -> None:
        """The copy is done."""
        self.words[_COPIED] = number

    def sees_copy(self, number: int, spin_ns: int) -> bool:
        """Wait awake until a copy is done, for so long at most; True once it is."""
        words = self.words
        end = time.perf_counter_ns() + spin_ns
        while time.perf_counter_ns() < end:
            for _ in _LOOKS:
                if words[_COPIED] == number:
                    return True
        return bool(words[_COPIED] == number)

    def note_sent(self, size: int) -> None:
        """So many bytes went through the socket."""
        self._sent = (self._sent + size) & _MASK
        self._empty = 0

    def note_woken(self, size: int) -> None:
        """So many bytes went through the socket that say nothing: the message lies in the slot."""
        self._sent = (self._sent + size) & _MASK
        self._empty += size

    def note_heard(self, size: int) -> None:
        """So many bytes came through the socket."""
        self._heard = self.words[_SOCKET_HEARD] = (self._heard + size) & _MASK

    def take(self) -> bytes:
        """What lies in the slot; nothing if nothing does."""
        words = self.words
        posted = words[_POSTED]
        if posted == words[_TAKEN]:
            return b""
        data = bytes(self._slot[: min(words[_SIZE], SLOT_BYTES)])
        words[_TAKEN] = posted
        return data

    @property
    def is_waiting(self) -> bool:
        """True if a message lies in the slot."""
        return bool(self.words[_POSTED] != self.words[_TAKEN])

    def watch(self, spin_ns: int) -> bytes:
        """Wait awake for a message, for so long at most."""
        words = self.words
        words[_STATE] = _AWAKE
        taken = words[_TAKEN]
        end, is_longer = time.perf_counter_ns() + spin_ns, False
        while time.perf_counter_ns() < end:
            for _ in _LOOKS:
                if words[_POSTED] != taken:
                    return self.take()
            if words[_COMING] and not is_longer:  # once: the other side may say it without end
                words[_COMING] = 0
                end, is_longer = time.perf_counter_ns() + ROUSED_NS, True
        return b""

    def fall_asleep(self) -> bytes:
        """The receiver is about to sleep; what came in the last moment."""
        self.words[_STATE] = _ASLEEP
        return self.take()

    @property
    def was_taken(self) -> bool:
        """True once the receiver has everything that was said, either way.

        One that found a message in the slot may have died before it read what would have woken it.
        """
        words = self.words
        unheard = (self._sent - words[_SOCKET_HEARD]) & _MASK
        return bool(words[_POSTED] == words[_TAKEN] and unheard <= self._empty)

    def close(self) -> None:
        """Let go of the memory; what the words said last can still be read."""
        words, slot = self.words, self._slot
        self.words = memoryview(array.array("I", words.tolist()))
        self._slot = memoryview(b"")
        self._used = False
        words.release()
        slot.release()
