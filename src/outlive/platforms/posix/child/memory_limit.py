"""The memory that a guarded call may ask for: RLIMIT_DATA of this process, set around each call."""

from __future__ import annotations

import os
import time
from typing import Any

from . import own_process

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# A limit is set anew when it would move by more than this.
_SLACK_BYTES = 1 << 20
# Memory is looked at anew after this long, and every so many calls (2^n - 1).
_OLD_S, _SOME = 0.001, 0xF
# The threads for which there is room where they are not counted.
_MANY_THREADS = 256


class MemoryLimit:
    """The sizes of this process, and its limit."""

    def __init__(self) -> None:
        """Look for the first time; no limit is set."""
        try:
            self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            import resource

            self._resource: Any = resource
            self._before = resource.getrlimit(resource.RLIMIT_DATA)
        except (OSError, ImportError):
            self._statm, self._resource = -1, None
        self._looked_at = 0.0
        self._is_traced: bool | None = None
        self._limit = -1  # what the process may have in all, as it was last set
        self._sizes = self.sizes()

    def sizes(self) -> tuple[int, int, int]:
        """Private memory, resident memory, and what RLIMIT_DATA counts; 0 where they cannot be read."""
        if self._statm < 0:
            return 0, 0, 0
        try:
            words = os.pread(self._statm, 256, 0).split()
        except OSError:
            return 0, 0, 0
        resident = int(words[1])
        return (resident - int(words[2])) * _PAGE_BYTES, resident * _PAGE_BYTES, int(words[5]) * _PAGE_BYTES

    def limit(self, memory_bytes: int) -> None:
        """Let the process ask for this much more than it has; negative for as much as it likes."""
        if memory_bytes < 0 or self._resource is None:
            return
        if self._limit < 0:  # something has been loaded since, which is no part of the call
            self._sizes = self.sizes()
        total = self._sizes[2] + memory_bytes + self._stacks_bytes()
        if self._limit >= 0 and abs(self._limit - total) <= _SLACK_BYTES:
            return
        soft, hard = self._before
        known = [size for size in (soft, hard) if size != self._resource.RLIM_INFINITY]
        self._set((min([total, *known]), hard))
        self._limit = total

    def _stacks_bytes(self) -> int:
        """Room for the stacks of threads: a tracer adds to it; where there is none, for as many as may be."""
        if self._is_traced is None:
            self._is_traced = own_process.is_traced()
        ahead = own_process.STACKS_AHEAD if self._is_traced else _MANY_THREADS
        return ahead * own_process.stack_bytes()

    def lift(self) -> None:
        """Take the limit off again: what comes now is no part of a call."""
        if self._limit >= 0:
            self._set(self._before)
            self._limit = -1

    def sizes_now_and_then(self, number: int) -> tuple[int, int, int]:
        """The sizes; those of a moment ago for most of many calls in a row."""
        now = time.monotonic()
        if now - self._looked_at > _OLD_S or not number & _SOME:
            self._looked_at = now
            self._sizes = self.sizes()
        return self._sizes

    def _set(self, limits: tuple[int, int]) -> None:
        try:
            self._resource.setrlimit(self._resource.RLIMIT_DATA, limits)
        except (OSError, ValueError):
            pass
