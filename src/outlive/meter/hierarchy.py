"""Where in the tree of memory cgroups a process is, and what limits and counters it finds on the way up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from outlive.meter.kernel_files import read_number, read_table, read_text

# Version 1 writes "no limit" as the largest multiple of a page below 2**63.
_NO_LIMIT = 1 << 60
_DEFAULT_MOUNTS = {1: "/sys/fs/cgroup/memory", 2: "/sys/fs/cgroup"}


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


def find_memory_cgroup(pid: int | None = None, root: Path = Path("/")) -> MemoryCgroup | None:
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


def oom_counter_file() -> str:
    """The file that counts kills for want of memory, as near to us as there is one."""
    place = find_memory_cgroup()
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
