"""What can be seen of a kernel from outside: its notes, memory, standard error, kills for memory, its end."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time

from . import notes_file

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
# What a pipe takes without waiting once it is ready at all (POSIX: at least 512; Linux: 4096).
_PIECE = 4096
_KEPT_BYTES = 8192
_MOST_WAITING = 1 << 16


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
            os.set_blocking(source, False)

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
        except OSError:  # the reader is gone
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

    def tail(self) -> str:
        """The last lines, as text."""
        return self._tail.decode("utf-8", errors="replace")


class WatchedKernel:
    """Everything that is known of one kernel; who has it open is at work on it."""

    def __init__(self, pid: int, folder: str, oom_counter: str, tee: StderrTee) -> None:
        """Open what the kernel has prepared."""
        self.pid, self.folder = pid, folder
        # Kept open: the lock on it says that a watcher is at work here.
        self._file = open(os.path.join(self.folder, notes_file.NOTES_FILE), "r+b")  # noqa: SIM115
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.notes = mmap.mmap(self._file.fileno(), notes_file.SIZE, prot=mmap.PROT_READ)
        self.tee = tee
        self.memory = KernelMemory(pid)
        self.kills = OomKillCount(oom_counter)
        # Where the user wants stack dumps to go; -1 if nowhere.
        self.fault_copy = -1

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


def exit_status(pid: int, pidfd: int) -> int | None:
    """The raw wait status of a process that has ended and is not our child; None if it is not known.

    Until its parent has asked for it, a dead process is still in the process table, status and all; after
    that, newer systems tell the holder of a descriptor of it.
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
    info = bytearray(_INFO_BYTES)
    struct.pack_into("<Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(pidfd, _GET_INFO, info)
    except OSError:
        return None
    known: int = struct.unpack_from("<Q", info)[0]
    status: int = struct.unpack_from("<i", info, _EXIT_CODE_AT)[0]
    return status if known & _INFO_EXIT else None
