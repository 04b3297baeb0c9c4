"""Memory cgroups: where a process is in their tree, the limits and counters on the way up, one of our own."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType

from outlive.platforms.posix.meter.kernel_files import read_number, read_table, read_text

# Version 1 writes "no limit" as the largest multiple of a page below 2**63.
_NO_LIMIT = 1 << 60
_DEFAULT_MOUNTS = {1: "/sys/fs/cgroup/memory", 2: "/sys/fs/cgroup"}
_ROOT = Path("/")
# Owner's process number, its start time (numbers are used again), and a count.
_NAME = re.compile(r"outlive-(\d{1,10})-(\d{1,20})-(\d+)")
_COUNT = itertools.count()
# A killed process leaves its cgroup a moment after it is reaped; 0.5 s in all.
_CLOSE_TRIES = 50
_CLOSE_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCgroup:
    """A process's place in the tree of memory cgroups: its own folder, and the topmost one we can see."""

    version: int
    path: Path
    top: Path

    def levels(self) -> tuple[Path, ...]:
        """The folders from its own up to the top."""
        between = [folder for folder in self.path.parents if folder.is_relative_to(self.top)]
        return (self.path, *between)

    def tightest(self) -> tuple[Path, int | None]:
        """Folder with the smallest limit on the way up and that limit; its own and None if there is none."""
        limits = [(limit, folder) for folder in self.levels() if (limit := folder_limit(folder)) is not None]
        inherited = self._inherited_limit()
        limit, folder = min(limits, default=(None, self.path), key=lambda item: item[0] or 0)
        if inherited is not None and (limit is None or inherited < limit):
            return self.path, inherited
        return folder, limit

    def high_bytes(self) -> int | None:
        """The smallest memory.high on the way up: from there on the kernel slows the process down."""
        return min(filter(None, (_limit(folder / "memory.high") for folder in self.levels())), default=None)

    def ends_as_a_whole(self) -> bool:
        """True if all processes are killed when memory runs out: memory.oom.group, which Kubernetes sets.

        Documentation/admin-guide/cgroup-v2.rst; version 1 has no such thing.
        """
        return any(read_number(folder / "memory.oom.group") == 1 for folder in self.levels())

    def oom_events(self) -> tuple[int | None, int | None]:
        """How often this cgroup was out of memory, and how often a process in it was killed for that."""
        if self.version == 1:
            return None, read_table(self.path / "memory.oom_control").get("oom_kill")
        events = read_table(self.path / "memory.events")
        return events.get("oom"), events.get("oom_kill")

    def _inherited_limit(self) -> int | None:
        """Version 1 tells here of limits above the topmost folder that a container can see."""
        limit = read_table(self.path / "memory.stat").get("hierarchical_memory_limit")
        return limit if self.version == 1 and limit and limit < _NO_LIMIT else None


def find_memory_cgroup(pid: int | None = None, root: Path = _ROOT) -> MemoryCgroup | None:
    """The memory cgroup of a process (ours if none is named); None where no cgroup controls memory."""
    home = root / "proc" / ("self" if pid is None else str(pid))
    memberships = dict(_memberships(read_text(home / "cgroup")))
    # On a hybrid system both are there; memory belongs to version 1 if version 1 names it.
    version = 1 if 1 in memberships else 2
    if version not in memberships:
        return None
    path = memberships[version]
    mounts = list(_mounts(read_text(home / "mountinfo"), version)) or [("/", _DEFAULT_MOUNTS[version])]
    holding = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount[0])]
    mount_root, mount_point = (holding or mounts)[-1]
    top = root / mount_point.lstrip("/")
    place = MemoryCgroup(version=version, path=_beneath(top, mount_root, path), top=top)
    return place if _controls_memory(place) else None


def oom_counter_file(pid: int | None = None) -> str:
    """The file that counts kills for want of memory, as near to a process (us) as there is one."""
    place = find_memory_cgroup(pid)
    if place is None or place.oom_events()[1] is None:
        return "/proc/vmstat"
    return str(place.path / ("memory.oom_control" if place.version == 1 else "memory.events"))


def folder_limit(folder: Path) -> int | None:
    """The hard limit set on one cgroup; None if it has none."""
    limits = (_limit(folder / name) for name in ("memory.max", "memory.limit_in_bytes"))
    return next((limit for limit in limits if limit is not None), None)


def folder_used_bytes(folder: Path) -> int | None:
    """What counts against a cgroup's limit, without the pages of files, which it gives back first."""
    for name, prefix in (("memory.current", ""), ("memory.usage_in_bytes", "total_")):
        used = read_number(folder / name)
        if used is not None:
            table = read_table(folder / "memory.stat")
            return max(0, used - sum(table.get(f"{prefix}{kind}_file", 0) for kind in ("inactive", "active")))
    return None


def _limit(path: Path) -> int | None:
    number = read_number(path)
    return number if number is not None and number < _NO_LIMIT else None


def _memberships(text: str) -> Iterator[tuple[int, str]]:
    """Version and path of each line of /proc/PID/cgroup that can have to do with memory."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not path.startswith("/"):
            continue
        if "memory" in controllers.split(","):
            yield 1, path
        elif number == "0" and not controllers:
            yield 2, path


def _mounts(text: str, version: int) -> Iterator[tuple[str, str]]:
    """Root and mount point of each mount of the wanted kind in /proc/PID/mountinfo."""
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        words, kind = left.split(), right.split()
        if len(words) < 5 or len(kind) < 3:
            continue
        is_wanted = kind[0] == "cgroup2" if version == 2 else _is_memory_mount(kind)
        if is_wanted:
            yield _unescape(words[3]), _unescape(words[4])


def _is_memory_mount(kind: list[str]) -> bool:
    return kind[0] == "cgroup" and "memory" in kind[2].split(",")


def _unescape(text: str) -> str:
    """Blanks and backslashes are octal in mountinfo."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), text)


def _beneath(top: Path, mount_root: str, path: str) -> Path:
    """The cgroup's folder below the mount; the mount itself where the path leads out of what we can see."""
    pure = PurePosixPath(path)
    inside = pure.relative_to(mount_root) if pure.is_relative_to(mount_root) else PurePosixPath()
    folder = top / inside
    return folder if ".." not in pure.parts and os.path.isdir(folder) else top


def _controls_memory(place: MemoryCgroup) -> bool:
    if place.version == 1:
        return os.path.exists(place.path / "memory.limit_in_bytes")
    return any("memory" in read_text(folder / "cgroup.controllers").split() for folder in place.levels())


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
    """Where a nursery may make cgroups; None if nowhere. What others left there is removed."""
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
            return  # a process that leaves this one escapes its limit on processors


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
