"""How often the system has killed for want of memory, and whether that was just now.

A worker may live for days, and others near it may be killed meanwhile: only what the counter did around the
moment of its end says something about that end.
"""

from __future__ import annotations

import time

# The counter rises when the system decides; a large process may take this long to be gone.
_RECENT_S = 5.0


def read_count(path: str) -> int | None:
    """The number behind `oom_kill` in memory.events, memory.oom_control or /proc/vmstat, or None."""
    try:
        with open(path) as file:
            rows = [line.split() for line in file]
        return next((int(row[1]) for row in rows if len(row) == 2 and row[0] == "oom_kill"), None)
    except (OSError, ValueError):
        return None


class OomCount:
    """The counter, looked at now and then."""

    def __init__(self, path: str) -> None:
        """Begin with what it says now."""
        self._path = path
        self._now = self._before = read_count(path)
        self._rose_at = float("-inf")

    def look(self) -> None:
        """Note whether it has risen."""
        count = read_count(self._path)
        if count != self._now:
            self._before, self._now, self._rose_at = self._now, count, time.monotonic()

    def around_now(self) -> list[int] | None:
        """What it said a few seconds ago and what it says now; None where it cannot be read."""
        self.look()
        before = self._before if time.monotonic() - self._rose_at < _RECENT_S else self._now
        return None if before is None or self._now is None else [before, self._now]
