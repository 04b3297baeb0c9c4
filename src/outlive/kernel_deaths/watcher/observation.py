"""What can be seen of a kernel from outside: its memory, kills for memory near it, and how it ended."""

from __future__ import annotations

import os
import struct
import time

# Not imported at run time: it would take a megabyte, in a process that is to be small.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# A kill for memory explains an end only if it was counted shortly before it.
_RECENT_S = 5.0
_MOST_POINTS = 256
_RECENT_POINTS = 64
# Linux, include/uapi/linux/pidfd.h (6.15): _IOWR(0xFF, 11, struct pidfd_info of 64 bytes); PIDFD_INFO_EXIT.
_GET_INFO, _INFO_BYTES, _INFO_EXIT, _EXIT_CODE_AT = 0xC040FF0B, 64, 1 << 3, 60


class KernelMemory:
    """The memory of a process over time: what it had before, the whole cell coarsely, its end closely."""

    def __init__(self, pid: int) -> None:
        """Nothing is known yet."""
        try:
            self._statm = os.open(f"/proc/{pid}/statm", os.O_RDONLY)
        except OSError:
            self._statm = -1
        self.before_bytes: int | None = None
        self._points: list[tuple[float, int, int]] = []
        self._recent: list[tuple[float, int, int]] = []
        self._every, self._skipped = 1, 0

    def begin(self) -> None:
        """A cell begins: what was seen last is what it started from."""
        last = self._recent[-1] if self._recent else None
        self.before_bytes = last[1] if last else None
        self._points, self._recent = [], [last] if last else []
        self._every, self._skipped = 1, 0

    def look(self, now_s: float) -> None:
        """Note what it holds; nothing if it is gone."""
        try:
            words = os.pread(self._statm, 256, 0).split()
        except OSError:
            return
        if len(words) < 3 or words[1] == b"0":
            return
        resident, shared = int(words[1]), int(words[2])
        point = (now_s, max(0, resident - shared) * _PAGE_BYTES, resident * _PAGE_BYTES)
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
        """What it said a few seconds ago, and what it says now; None where nobody counts."""
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


def exit_status(pid: int, pidfd: int) -> int | None:
    """The raw wait status of a process that has ended and is not our child; None if nobody tells.

    Until its parent has asked for it, a dead process is still in the process table, status and all; after
    that, newer systems tell whoever holds a descriptor of it.
    """
    status = _status_in_table(pid)
    if status is None and pidfd >= 0:
        status = _status_of_descriptor(pidfd)
    return status


def _status_in_table(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # After the name: the state is field 0, the exit code field 49 (proc(5)).
    return int(words[49]) if len(words) > 49 and words[0] in "ZX" else None


def _status_of_descriptor(pidfd: int) -> int | None:
    import fcntl

    info = bytearray(_INFO_BYTES)
    struct.pack_into("<Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _GET_INFO, info)
    except OSError:
        return None
    known: int = struct.unpack_from("<Q", info)[0]
    status: int = struct.unpack_from("<i", info, _EXIT_CODE_AT)[0]
    return status if known & _INFO_EXIT else None
