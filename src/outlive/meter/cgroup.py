"""A memory cgroup of our own, where the user may make one: the kernel itself then keeps a worker's limit."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from outlive.meter.hierarchy import MemoryCgroup, find_memory_cgroup, folder_limit
from outlive.meter.kernel_files import read_number, read_text

_ROOT = Path("/")
# Owner's process number, its start time (numbers are used again), and a count.
_NAME = re.compile(r"outlive-(\d{1,10})-(\d{1,20})-(\d+)")
_COUNT = itertools.count()
# A killed process leaves its cgroup a moment after it is reaped; 0.5 s in all.
_CLOSE_TRIES = 50
_CLOSE_PAUSE_S = 0.01


class Cgroup:
    """A memory cgroup that we made and may remove.

    What a process holds when it is added stays charged where it was: the limit is on what it adds from then
    on, file pages it is the first to touch included (those are given back before anything is killed).
    """

    def __init__(self, path: Path, version: int, limit_bytes: int) -> None:
        """Take charge of a folder that was just made."""
        self.path = path
        self.version = version
        self.limit_bytes = limit_bytes
        self._owner = os.getpid()

    def add(self, pid: int) -> bool:
        """Put a process in; whether that worked."""
        return _write(self.path / "cgroup.procs", pid)

    def place(self) -> MemoryCgroup:
        """Where it is, to read its counters when the process is gone."""
        return MemoryCgroup(version=self.version, path=self.path, top=self.path)

    def oom_kills(self) -> int | None:
        """How many processes in it were killed for memory; None if the kernel does not say."""
        return self.place().oom_events()[1]

    def peak_bytes(self) -> int | None:
        """The most it ever held; None if the kernel does not say (version 2 before Linux 5.19)."""
        name = "memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"
        return read_number(self.path / name)

    def close(self) -> bool:
        """Remove it; whether it is gone. With a process in it, it stays: none is moved or killed for this."""
        if os.getpid() != self._owner:  # a fork's copy; the cgroup is its parent's
            return False
        for _ in range(_CLOSE_TRIES):
            if _remove(self.path):
                return True
            time.sleep(_CLOSE_PAUSE_S)
        return False

    def __enter__(self) -> Cgroup:
        """The cgroup itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove it."""
        self.close()


def find_cgroup_home(root: Path = _ROOT) -> dict[str, object] | None:
    """Where cgroups may be made, as a nursery is told; None if nowhere. What others left there is removed."""
    place = find_memory_cgroup(root=root)
    for parent, ceiling in () if place is None else _parents(place):
        if os.access(parent, os.W_OK):
            assert place is not None
            _remove_leftovers(parent, root)
            return {"path": str(parent), "version": place.version, "ceiling": ceiling}
    return None


def make_cgroup(limit_bytes: int, root: Path = _ROOT) -> Cgroup | None:
    """A new cgroup with this limit, as near to our own as can be; None where we may not make one."""
    place = find_memory_cgroup(root=root)
    if place is None:
        return None
    for parent, ceiling in _parents(place):
        _remove_leftovers(parent, root)
        made = _make_in(
            parent, place.version, limit_bytes if ceiling is None else min(limit_bytes, ceiling), root
        )
        if made is not None:
            return made
    return None


def _parents(place: MemoryCgroup) -> Iterator[tuple[Path, int | None]]:
    """Folders that can have a child with a limit, and the limit that the child must not escape from.

    In version 1 that is our own. In version 2 a cgroup with processes in it, such as ours, cannot hand memory
    on to children (but for the system's root); so a sibling of ours has to do, or one further up.
    (Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint".)
    """
    if place.version == 1:
        # Before Linux 5.11 one could say that children do not count: they would escape the limit above.
        if read_text(place.path / "memory.use_hierarchy").strip() != "0":
            yield place.path, None
        return
    limits: list[int] = []
    for folder in place.levels():
        if _hands_on_memory(folder, folder == place.path) and os.access(folder / "cgroup.procs", os.W_OK):
            yield folder, min(limits, default=None)
        limit = folder_limit(folder)
        limits += [] if limit is None else [limit]
        if read_text(folder / "cpu.max").split()[:1] not in ([], ["max"]):
            return  # whoever leaves this one escapes its limit on processors


def _hands_on_memory(folder: Path, is_own: bool) -> bool:
    switch = folder / "cgroup.subtree_control"
    if "memory" in read_text(switch).split():
        return True
    # Only tried on our own: on a folder above it would change the lives of others.
    return is_own and _write(switch, "+memory") and "memory" in read_text(switch).split()


def _make_in(parent: Path, version: int, limit_bytes: int, root: Path) -> Cgroup | None:
    name = f"outlive-{os.getpid()}-{_start_time(os.getpid(), root)}-{next(_COUNT)}"
    path = parent / name
    try:
        path.mkdir()
    except OSError:
        return None
    limit, swap = ("memory.max", "memory.swap.max") if version == 2 else (
        "memory.limit_in_bytes", "memory.memsw.limit_in_bytes")  # fmt: skip
    if _write(path / limit, limit_bytes) and folder_limit(path) is not None:
        # Without swap, or the limit would only make the process slow. Version 1 counts both together.
        _write(path / swap, 0 if version == 2 else limit_bytes)
        return Cgroup(path, version, limit_bytes)
    _remove(path)
    return None


def _remove_leftovers(parent: Path, root: Path) -> None:
    """Remove cgroups of owners that are gone. One that still holds a process cannot be removed, and stays."""
    try:
        names = [_NAME.fullmatch(entry) for entry in os.listdir(parent)]
    except OSError:
        return
    for name in filter(None, names):
        if str(_start_time(int(name[1]), root)) != name[2]:
            _remove(parent / name[0])


def _start_time(pid: int, root: Path) -> int:
    """When a process began, in the kernel's ticks; 0 if there is no such process."""
    # The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
    words = read_text(root / "proc" / str(pid) / "stat").rpartition(")")[2].split()
    return int(words[19]) if len(words) > 19 and words[19].isdigit() else 0


def _remove(path: Path) -> bool:
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: Path, value: int | str) -> bool:
    try:
        path.write_text(f"{value}\n", encoding="ascii")
    except OSError:
        return False
    return True
