"""The memory watchdog: ends a worker that holds more than it may, by what it really holds.

RLIMIT_DATA counts what is asked for, used or not, and under some sandboxes and old kernels nothing. What a
worker holds can be read from outside nearly everywhere; the nursery looks the more often, the less is left.
Of a guarded worker counts too what it shares and its caller does not have (`shared_memory`).
"""

from __future__ import annotations

import os
import threading
import time

from ..wire import OWN_END
from .own_process import until_ms
from .shared_memory import read_shared

# The fastest that memory is filled, page by page, on a machine of today; and bounds for the pause.
_BYTES_PER_S = 4e9
_SHORTEST_S, _LONGEST_S = 0.01, 2.0
# What the worker's own part of a run takes beside the model: answers, arrays of outputs, their statistics.
# A limit is of what the model adds, so the watchdog allows this much more.
OWN_BYTES = 1 << 18
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def held_bytes(process: int) -> int | None:
    """The private memory that a process holds; None if it cannot be read."""
    try:
        with open("/proc/%d/statm" % process) as file:
            _, resident, shared = file.read().split()[:3]
        return (int(resident) - int(shared)) * _PAGE_BYTES
    except (OSError, ValueError):
        return None


class Watchdog:
    """Knows how much each worker may hold, and when to look next."""

    def __init__(self) -> None:
        """No process is watched yet."""
        self._most: dict[int, int] = {}
        self._next: dict[int, float] = {}
        self._caught: set[int] = set()
        self._sharing: set[int] = set()  # those whose shared memory counts

    def watch(self, process: int, memory_bytes: int | None) -> int | None:
        """Watch a process that was just forked: what it holds now is not counted. How much that is, if so."""
        now = held_bytes(process)
        if memory_bytes is None or now is None:
            return None
        self._most[process] = now + memory_bytes + OWN_BYTES
        self._next[process] = 0.0
        return now

    def allow(self, process: int, most_bytes: int | None) -> None:
        """Let a process hold this much and no more, private and shared; None for as much as it likes."""
        if most_bytes is None:
            self._forget(process)
        else:
            self._sharing.add(process)
            self._most[process] = most_bytes
            self._next[process] = 0.0

    def forget(self, process: int) -> bool:
        """Stop watching; True if it had been caught."""
        self._forget(process)
        was_caught = process in self._caught
        self._caught.discard(process)
        return was_caught

    def _forget(self, process: int) -> None:
        self._most.pop(process, None)
        self._next.pop(process, None)
        self._sharing.discard(process)

    def pause_ms(self) -> int | None:
        """How long to wait before the next look; None for as long as one likes."""
        return until_ms(min(self._next.values())) if self._next else None

    def is_due(self) -> bool:
        """True if it is time to look at one of them."""
        return bool(self._next) and min(self._next.values()) <= time.monotonic()

    def look(self) -> dict[int, int]:
        """The processes that hold too much now, and the limits they are held to."""
        now = time.monotonic()
        due = [process for process, at in self._next.items() if at <= now]
        caught = {}
        for process in due:
            left = self._left(process)
            if left < 0:
                caught[process] = self._most[process]
            self._next[process] = now + min(max(left / _BYTES_PER_S, _SHORTEST_S), _LONGEST_S)
        return caught

    def catch(self, process: int, most_bytes: int) -> bool:
        """True if this is still the limit of one that held too much: looking takes time."""
        if self._most.get(process) != most_bytes:
            return False
        self._caught.add(process)
        return True

    def _left(self, process: int) -> int:
        """How much more it may hold."""
        most = self._most[process]
        left = most - (held_bytes(process) or 0)
        if process in self._sharing and left >= 0:
            left -= read_shared(process, os.getppid(), left, spared_bytes=most)
        return left


def watch_self(memory_bytes: int | None) -> None:
    """The same by a thread of its own: for a worker that was not forked."""
    dog = Watchdog()
    if dog.watch(os.getpid(), memory_bytes) is None:
        return

    def look() -> None:
        while not dog.look():
            time.sleep((dog.pause_ms() or 0) / 1000)
        os.write(2, OWN_END.encode("ascii"))
        os.abort()

    threading.Thread(target=look, daemon=True).start()
