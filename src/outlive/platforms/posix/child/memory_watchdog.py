"""The memory watchdog: ends a worker that holds more than it may, by what it really holds.

RLIMIT_DATA counts what is asked for, used or not, and under some sandboxes and old kernels nothing. What a
worker holds can be read from outside nearly everywhere; the nursery looks the more often, the less is left.
Of a guarded worker counts too what it shares and its caller does not have (`shared_memory`).
"""

from __future__ import annotations

import os
import threading
import time

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


class _Watched:
    """How much a process may hold, whether what it shares counts, and when to look next."""

    def __init__(self, most_bytes: int, counts_shared: bool) -> None:
        self.most_bytes, self.counts_shared = most_bytes, counts_shared
        self.next_look = 0.0


class Watchdog:
    """Knows how much each worker may hold, and when to look next."""

    def __init__(self) -> None:
        """No process is watched yet."""
        self._watched: dict[int, _Watched] = {}
        self._caught: set[int] = set()

    def watch(self, process: int, memory_bytes: int | None) -> int | None:
        """Watch a process that was just forked: what it holds now is not counted. How much that is, if so."""
        now = held_bytes(process)
        if memory_bytes is None or now is None:
            return None
        self._watched[process] = _Watched(now + memory_bytes + OWN_BYTES, counts_shared=False)
        return now

    def allow(self, process: int, most_bytes: int | None) -> None:
        """Let a process hold this much and no more, private and shared; None for as much as it likes."""
        if most_bytes is None:
            self._watched.pop(process, None)
        else:
            self._watched[process] = _Watched(most_bytes, counts_shared=True)

    def forget(self, process: int) -> bool:
        """Stop watching; True if it had been caught."""
        self._watched.pop(process, None)
        was_caught = process in self._caught
        self._caught.discard(process)
        return was_caught

    def pause_ms(self) -> int | None:
        """How long to wait before the next look; None for as long as one likes."""
        return until_ms(self._next_look()) if self._watched else None

    def is_due(self) -> bool:
        """True if it is time to look at one of them."""
        return bool(self._watched) and self._next_look() <= time.monotonic()

    def _next_look(self) -> float:
        return min(watched.next_look for watched in self._watched.values())

    def look(self) -> dict[int, int]:
        """The processes that hold too much now, and the limits they are held to."""
        now = time.monotonic()
        caught = {}
        for process, watched in self._watched.items():
            if watched.next_look > now:
                continue
            # How much more it may hold.
            left = watched.most_bytes - (held_bytes(process) or 0)
            if watched.counts_shared and left >= 0:
                left -= read_shared(process, os.getppid(), left, spared_bytes=watched.most_bytes)
            if left < 0:
                caught[process] = watched.most_bytes
            watched.next_look = now + min(max(left / _BYTES_PER_S, _SHORTEST_S), _LONGEST_S)
        return caught

    def catch(self, process: int, most_bytes: int) -> bool:
        """True if this is still the limit of one that held too much: looking takes time."""
        if process not in self._watched or self._watched[process].most_bytes != most_bytes:
            return False
        self._caught.add(process)
        return True


def watch_self(memory_bytes: int | None, last_words: str) -> None:
    """The same by a thread of its own: for a worker that was not forked, which says its last words."""
    dog = Watchdog()
    if dog.watch(os.getpid(), memory_bytes) is None:
        return

    def look() -> None:
        while not dog.look():
            time.sleep((dog.pause_ms() or 0) / 1000)
        os.write(2, last_words.encode("ascii"))
        os.abort()

    threading.Thread(target=look, daemon=True).start()
