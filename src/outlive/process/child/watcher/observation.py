"""What can be seen of a kernel from outside: its notes, memory, standard error, kills for memory, its end."""

from __future__ import annotations

import mmap
import os
import time

from ..operating_system import watched_process
from . import notes_file

# Not imported at run time: it would take a megabyte, in a process that is to be small.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A kill for memory explains an end only if it was counted shortly before it.
_RECENT_S = 5.0
_MOST_POINTS = 256
_RECENT_POINTS = 64
# What a pipe takes without waiting once it is ready at all (POSIX: at least 512; Linux: 4096).
_PIECE = 4096
_KEPT_BYTES = 8192
_MOST_WAITING = 1 << 16


class KernelMemory:
    """The memory of a process and its children over time: all of a cell coarsely, its end closely."""

    def __init__(self, pid: int, tracer: int) -> None:
        """Nothing is known yet; its tracer may be one of its children, and does not count."""
        self.sizes = watched_process.ProcessSizes(pid, tracer)
        self.before_bytes: int | None = None
        self._points: list[tuple[float, int, int]] = []
        self._recent: list[tuple[float, int, int]] = []
        self._every, self._skipped = 1, 0

    @property
    def now_bytes(self) -> int:
        """What it held when it was last looked at."""
        return self._recent[-1][1] if self._recent else 0

    def begin(self) -> None:
        """A cell begins: what was seen last is what it started from."""
        last = self._recent[-1] if self._recent else None
        self.before_bytes = last[1] if last else None
        self._points, self._recent = [], [last] if last else []
        self._every, self._skipped = 1, 0

    def look(self, now_s: float) -> None:
        """Note what it holds; nothing if it is gone."""
        sizes = self.sizes.read()
        if sizes is None:
            return
        point = (now_s, *sizes)
        self.before_bytes = point[1] if self.before_bytes is None else self.before_bytes
        self._recent.append(point)
        del self._recent[:-_RECENT_POINTS]
        self._keep(point)

    def _keep(self, point: tuple[float, int, int]) -> None:
        self._skipped += 1
        if self._skipped < self._every:
            return
        self._skipped = 0
        self._points.append(point)
        if len(self._points) >= _MOST_POINTS:  # half of them, and half as often from now on
            del self._points[1::2]
            self._every *= 2

    def rows(self, began_s: float) -> list[dict[str, Any]]:
        """All points in order, above what the process had before, in seconds since the cell began."""
        before = self.before_bytes or 0
        return [
            {
                "seconds": round(max(0.0, seconds - began_s), 3),
                "bytes": max(0, size - before),
                "rss_bytes": rss,
                "mark": None,
            }
            for seconds, size, rss in sorted({*self._points, *self._recent})
        ]


class OomKillCount:
    """The count of kills for memory, as near to the kernel as it is kept."""

    def __init__(self, path: str) -> None:
        """Begin with what it says now."""
        self._path = path
        self._now = self._before = self._read()
        self._rose_at = float("-inf")

    def look(self) -> None:
        """Note whether it has risen."""
        count = self._read()
        if count is not None and count != self._now:
            self._before, self._now, self._rose_at = self._now, count, time.monotonic()

    def around_now(self) -> list[int] | None:
        """What it said a few seconds ago, and what it says now; None where there is no count."""
        self.look()
        recent = time.monotonic() - self._rose_at < _RECENT_S
        before = self._before if recent else self._now
        return None if before is None or self._now is None else [before, self._now]

    def _read(self) -> int | None:
        try:
            with open(self._path, encoding="ascii") as file:
                rows = [line.split() for line in file]
            return next((int(row[1]) for row in rows if len(row) == 2 and row[0] == "oom_kill"), None)
        except (OSError, ValueError):
            return None


class StderrTee:
    """Reads what the kernel writes to its standard error and passes it on to where it went before."""

    def __init__(self, source: int, target: int) -> None:
        """Take over both descriptors; -1 if there is nothing to read."""
        self.source, self.target = source, target
        self._waiting = b""
        self._tail = b""
        if source >= 0:
            watched_process.set_nonblocking(source)

    def wants(self) -> tuple[int, int]:
        """The descriptor to read from, if there is room, and the one to write to, if something waits."""
        reading = self.source if len(self._waiting) < _MOST_WAITING else -1
        return reading, self.target if self._waiting else -1

    def read(self) -> bool:
        """Take what is there; whether there was anything."""
        try:
            piece = os.read(self.source, _PIECE)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if not piece:  # the other end is closed
            self.close_source()
            return False
        self._tail = (self._tail + piece)[-_KEPT_BYTES:]
        if self.target >= 0:
            self._waiting += piece
        return True

    def write(self) -> None:
        """Pass on a piece that does not make us wait."""
        try:
            sent = os.write(self.target, self._waiting[:_PIECE])
        except BlockingIOError:  # it is read more slowly than it comes
            return
        except OSError:  # the reader is gone
            os.close(self.target)
            self.target, self._waiting = -1, b""
            return
        self._waiting = self._waiting[sent:]

    def close_source(self) -> None:
        """Nothing comes any more."""
        if self.source >= 0:
            os.close(self.source)
        self.source = -1

    def drain(self) -> None:
        """Take what a dead kernel left in the pipe, and no more than a pipe holds."""
        for _ in range(_MOST_WAITING // _PIECE):
            if self.source < 0 or not self.read():
                return

    def forget(self) -> None:
        """Begin anew with the last lines, but for what has not been passed on yet."""
        self._tail = self._waiting

    def tail(self) -> str:
        """The last lines, as text."""
        return self._tail.decode("utf-8", errors="replace")


class WatchedKernel:
    """Everything that is known of one kernel; who has it open is at work on it."""

    def __init__(self, pid: int, folder: str, oom_counter: str, tee: StderrTee, tracer: int = 0) -> None:
        """Open what the kernel has prepared."""
        self.pid, self.folder = pid, folder
        # Kept open: the lock on it says that a watcher is at work here.
        self._file = open(os.path.join(self.folder, notes_file.NOTES_FILE), "r+b")  # noqa: SIM115
        watched_process.lock(self._file)
        self.notes = mmap.mmap(self._file.fileno(), notes_file.SIZE, access=mmap.ACCESS_READ)
        self.tee = tee
        self.memory = KernelMemory(pid, tracer)
        self.kills = OomKillCount(oom_counter)
        # Where the user wants stack dumps to go; -1 if nowhere.
        self.fault_copy = -1

    def close(self) -> None:
        """Let go of everything, for a watcher that outlives the kernel."""
        self.memory.sizes.close()
        self.tee.close_source()
        watched_process.close(self.tee.target)
        watched_process.close(self.fault_copy)
        self.tee.target = self.fault_copy = -1
        self.notes.close()
        self._file.close()

    @property
    def busy(self) -> bool:
        """Whether a cell runs."""
        return bool(notes_file.get_word(self.notes, notes_file.BUSY))

    @property
    def began_ns(self) -> int:
        """When the cell began; when the watch did, if there was none yet."""
        return notes_file.get_word(self.notes, notes_file.BEGAN_NS)

    @property
    def began_s(self) -> float:
        """The same in seconds."""
        return self.began_ns / 1e9
