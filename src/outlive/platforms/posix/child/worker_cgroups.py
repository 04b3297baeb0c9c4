"""A memory cgroup for each worker, so that the kernel itself keeps its limit, however fast memory is taken.

    nursery ──makes one ahead, puts the spare in──> request comes: the limit is written ──> worker
       └─ the worker has ended: was it killed for memory, by its own limit? the cgroup is removed

What a process holds when it is put in stays charged where it was. Charged to it are the pages that it touches
from then on: copies of pages it has from the nursery, pages of files (given back before anything is killed)
and of the block it shares with its owner. The limit leaves room for these; what the worker adds itself is the
watchdog's business.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

# Beside what is counted: page tables, kernel stacks of threads, libraries that are read again.
SLACK_BYTES = 32 << 20
# The kernel charges in batches (mm/memcontrol.c, MEMCG_CHARGE_BATCH): a limit is reached a little below it.
_BATCH_BYTES = 1 << 20
_AGAIN_MS = 20
# The OOM counter rises when the system decides; a large process may take this long to be gone.
_RECENT_S = 5.0
_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}


class CgroupEnd(NamedTuple):
    """What a cgroup says when its process has ended: kills for memory, and whether its own limit was why."""

    kills: int = 0
    by_own_limit: bool = False


class _WorkerCgroup(NamedTuple):
    """The cgroup of a process; what the process may hold itself, None before a limit is set."""

    folder: str
    most_bytes: int | None = None
    no_swap: bool = False


class WorkerCgroups:
    """The cgroups of the workers of one nursery; none where `home` is None, or refuses."""

    def __init__(self, home: dict[str, Any] | None) -> None:
        """`home` is the folder to make them in, its version, and the limit they must not escape from."""
        self._home, self._version = home, home["version"] if home else 0
        self._name = "outlive-%d-%d-" % (os.getpid(), _start_time())  # as `outlive.meter.cgroup` knows them
        self._count = 0
        self._known: dict[int, _WorkerCgroup] = {}
        self._left: list[str] = []  # not removed yet: a process leaves a moment after it was reaped

    def take_in(self, process: int) -> None:
        """Put a process into a new cgroup, if it has none."""
        if self._home is None or process in self._known:
            return
        self._count += 1
        folder = os.path.join(self._home["path"], self._name + str(self._count))
        try:
            os.mkdir(folder)
        except OSError:
            self._home = None  # nor will it be allowed the next time
            return
        if _write(folder, "cgroup.procs", process):
            self._known[process] = _WorkerCgroup(folder)
        else:
            self._left.append(folder)
            self._home = None

    def limit(self, process: int, most_bytes: int, no_swap: bool) -> None:
        """Let it hold this much, where it has a cgroup; `no_swap` if swap is not to help it out."""
        if process in self._known:
            self._known[process] = _WorkerCgroup(self._known[process].folder, most_bytes, no_swap)
            self.share(process, 0)

    def share(self, process: int, shared_bytes: int) -> None:
        """Let it touch this much besides, which it shares with its owner."""
        known = self._known.get(process)
        if known is None or known.most_bytes is None or self._home is None:
            return
        most, ceiling = known.most_bytes + shared_bytes, self._home["ceiling"]
        for name, value in self._settings(most if ceiling is None else min(most, ceiling), known.no_swap):
            _write(known.folder, name, value)

    def _settings(self, most_bytes: int, no_swap: bool) -> list[tuple[str, int]]:
        """Documentation/admin-guide/cgroup-v1/memory.rst (2.4, 8) and cgroup-v2.rst (memory.swap.max)."""
        limit, both = (_LIMIT[self._version], most_bytes), ("memory.memsw.limit_in_bytes", most_bytes)
        if not no_swap:
            return [limit]
        # Version 1 limits memory and swap together, which may at no time be less than memory alone.
        return [limit, ("memory.swap.max", 0)] if self._version == 2 else [both, limit, both]

    def leave(self, process: int) -> CgroupEnd:
        """It has ended: what its cgroup says of that; the cgroup is removed, now or a little later."""
        known = self._known.pop(process, None)
        if known is None:
            return CgroupEnd()
        end = _read_end(known.folder, self._version)
        self._left.append(known.folder)
        self.remove_left()
        return end

    def remove_left(self) -> bool:
        """Try to remove what could not be removed before; True if nothing is left."""
        self._left = [folder for folder in self._left if not _remove(folder)]
        return not self._left

    def pause_ms(self) -> int | None:
        """How long until the next try; None for as long as one likes."""
        return _AGAIN_MS if self._left else None


def _read_end(folder: str, version: int) -> CgroupEnd:
    if version == 2:
        events = _read_table(folder, "memory.events")
        return CgroupEnd(
            events.get("oom_kill", 0), events.get("oom_kill", 0) > 0 and events.get("oom", 0) > 0
        )
    kills = _read_table(folder, "memory.oom_control").get("oom_kill", 0)
    # Counted here are kills for a limit further up as well: then the own one was not reached.
    peak, limit = (_read_number(folder, name) for name in ("memory.max_usage_in_bytes", _LIMIT[1]))
    return CgroupEnd(kills, kills > 0 and peak >= limit - _BATCH_BYTES)


def _start_time() -> int:
    """When this process began, in the kernel's ticks: its number may be another's one day."""
    try:
        with open("/proc/self/stat") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def _read_table(folder: str, name: str) -> dict[str, int]:
    try:
        with open(os.path.join(folder, name)) as file:
            rows = [line.split() for line in file]
        return {row[0]: int(row[1]) for row in rows if len(row) == 2}
    except (OSError, ValueError):
        return {}


def _read_number(folder: str, name: str) -> int:
    try:
        with open(os.path.join(folder, name)) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _remove(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def _write(folder: str, name: str, value: int) -> bool:
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        try:
            os.write(descriptor, b"%d" % value)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True


def read_count(path: str) -> int | None:
    """The number behind `oom_kill` in memory.events, memory.oom_control or /proc/vmstat, or None."""
    try:
        with open(path) as file:
            rows = [line.split() for line in file]
        return next((int(row[1]) for row in rows if len(row) == 2 and row[0] == "oom_kill"), None)
    except (OSError, ValueError):
        return None


class OomKillCounter:
    """How often the system has killed for want of memory, and whether that was just now.

    A worker may live for days, and others near it may be killed meanwhile: only what the counter did around
    the moment of its end says something about that end.
    """

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
