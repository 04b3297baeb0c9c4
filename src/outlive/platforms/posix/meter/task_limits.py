"""How many processes and threads may be started here, and whose limit refused one.

The system counts both alike (`task` is the kernel's word). Two limits are usual: that of the user
(RLIMIT_NPROC, setrlimit(2), to which root is not held) and that of a cgroup (pids.max,
Documentation/admin-guide/cgroup-v1/pids.rst), which counts in pids.events how often it refused.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from outlive.platforms.posix.meter.kernel_files import read_number, read_table, read_text
from outlive.platforms.posix.meter.machine_files import is_root, read_rlimit

_ROOT = Path("/")
# Mount points of the controller in version 1 and 2.
_MOUNTS = {1: "sys/fs/cgroup/pids", 2: "sys/fs/cgroup"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLimit:
    """A limit on processes and threads: its name (pids.max, RLIMIT_NPROC), and the number."""

    name: str
    most: int


class TaskWatch:
    """How often the cgroups that limit us (`limited_folders`) had refused when it was made, and since."""

    def __init__(self, folders: tuple[Path, ...], root: Path = _ROOT) -> None:
        """Look for the first time."""
        self._root, self._folders = root, folders
        self._before = self._refusals()

    def refused_by(self, lost: int = 0) -> TaskLimit | None:
        """The limit that has refused a thread since, as far as can be told; `lost` have ended meanwhile."""
        for folder, (most, count) in self._refusals().items():
            if count > self._before.get(folder, (0, 0))[1]:
                return TaskLimit(name="pids.max", most=most)
        own = _users_limit()
        if own is not None and count_tasks(os.geteuid(), self._root) + lost >= own.most:
            return own
        return None

    def _refusals(self) -> dict[Path, tuple[int, int]]:
        found = {}
        for folder in self._folders:
            most = read_number(folder / "pids.max")
            if most is not None:
                found[folder] = most, read_table(folder / "pids.events").get("max", 0)
        return found


def find_limits(root: Path = _ROOT) -> list[TaskLimit]:
    """The limits on processes and threads that this process is under, the tightest of the cgroups' alone."""
    folders = [read_number(folder / "pids.max") for folder in limited_folders(root)]
    most = min((limit for limit in folders if limit is not None), default=None)
    own = _users_limit()
    return [*([] if most is None else [TaskLimit(name="pids.max", most=most)]), *([own] if own else [])]


def _users_limit() -> TaskLimit | None:
    most = None if is_root() else read_rlimit("NPROC")
    return None if most is None else TaskLimit(name="RLIMIT_NPROC", most=most)


def limited_folders(root: Path = _ROOT) -> tuple[Path, ...]:
    """The cgroups, from our own upwards, that limit processes and threads."""
    for line in read_text(root / "proc/self/cgroup").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        version = 1 if "pids" in controllers.split(",") else 2 if not controllers else 0
        if not version:
            continue
        top = root / _MOUNTS[version]
        own = top / path.lstrip("/")
        levels = [own, *own.parents] if os.path.isdir(own) and ".." not in path else [top]
        found = [
            one for one in levels if one.is_relative_to(top) and read_number(one / "pids.max") is not None
        ]
        if found:
            return tuple(found)
    return ()


def count_tasks(user: int, root: Path = _ROOT) -> int:
    """How many processes and threads a user has."""
    count = 0
    for entry in os.listdir(root / "proc"):
        text = read_text(root / "proc" / entry / "status") if entry.isdigit() else ""
        owner = re.search(r"^Uid:\s+(\d+)", text, re.M)
        threads = re.search(r"^Threads:\s+(\d+)", text, re.M)
        if owner and threads and int(owner[1]) == user:
            count += int(threads[1])
    return count


def process_limit(root: Path = _ROOT) -> int | None:
    """How many processes and threads the container may have; None if it has no such limit."""
    folders = (root / "sys/fs/cgroup", root / "sys/fs/cgroup/pids", *limited_folders(root))
    known = [limit for folder in folders if (limit := read_number(folder / "pids.max")) is not None]
    return min(known, default=None)
