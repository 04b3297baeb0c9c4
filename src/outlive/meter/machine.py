"""How much memory this process may really use: the machine's, less what containers and limits take away."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from outlive.meter.hierarchy import MemoryCgroup, find_memory_cgroup, folder_used_bytes
from outlive.meter.kernel_files import read_table, read_text

_ROOT = Path("/")
# A path of ours in the tree of cgroups that holds one of these was made by a container runtime.
_CONTAINER_WORDS = ("kubepods", "docker", "libpod", "containerd", "lxc")


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMemory:
    """RAM, swap and every limit on this process's memory; None where there is none, or nobody tells.

    `cgroup_used_bytes` is what counts against the tightest cgroup's limit, reclaimable file pages left out.
    `cgroup_version` is 0 where no cgroup controls memory.
    """

    total_bytes: int | None
    available_bytes: int | None
    swap_total_bytes: int | None
    swap_free_bytes: int | None
    cgroup_version: int = 0
    cgroup_limit_bytes: int | None = None
    cgroup_high_bytes: int | None = None
    cgroup_used_bytes: int | None = None
    rlimit_as_bytes: int | None = None
    rlimit_data_bytes: int | None = None
    container: str = ""

    def limits(self) -> dict[str, int]:
        """Every limit there is, by name."""
        known = {
            "RAM": self.total_bytes,
            "cgroup": self.cgroup_limit_bytes,
            "RLIMIT_AS": self.rlimit_as_bytes,
            "RLIMIT_DATA": self.rlimit_data_bytes,
        }
        return {name: size for name, size in known.items() if size is not None}

    def usable_bytes(self) -> int | None:
        """The most this process could ever use: the smallest of RAM, cgroup and rlimits; None if unknown.

        Swap is not counted: a model that runs from swap does not run. What happens to be free now is not
        asked either: the kernel makes room by dropping file pages, and the answer would change by the second.
        """
        return min(self.limits().values(), default=None)

    def known(self) -> dict[str, int | str]:
        """What is known, as plain data."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, "")}

    def limited_by(self) -> str:
        """Which limit `usable_bytes` gives: "RAM", "cgroup", "RLIMIT_AS", "RLIMIT_DATA", or "" if none."""
        return min(self.limits().items(), key=lambda item: item[1], default=("", 0))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OomCounters:
    """How often memory ran out and something was killed for it; None where the system keeps no such count."""

    cgroup_oom: int | None = None
    cgroup_oom_kill: int | None = None
    machine_oom_kill: int | None = None


def read_machine(root: Path = _ROOT) -> MachineMemory:
    """The memory and the limits of the machine and of this process."""
    table = {name: kb * 1024 for name, kb in read_table(root / "proc" / "meminfo").items()}
    total, available = table.get("MemTotal"), table.get("MemAvailable")
    if total is None and root == _ROOT:
        total, available = _portable_memory()
    cgroup = find_memory_cgroup(root=root)
    folder, limit = cgroup.tightest() if cgroup else (None, None)
    return MachineMemory(
        total_bytes=total,
        available_bytes=available,
        swap_total_bytes=table.get("SwapTotal"),
        swap_free_bytes=table.get("SwapFree"),
        cgroup_version=cgroup.version if cgroup else 0,
        cgroup_limit_bytes=limit,
        cgroup_high_bytes=cgroup.high_bytes() if cgroup else None,
        cgroup_used_bytes=folder_used_bytes(folder) if folder else None,
        rlimit_as_bytes=read_rlimit("AS"),
        rlimit_data_bytes=read_rlimit("DATA"),
        container=find_container(root),
    )


def read_oom_counters(
    pid: int | None = None, *, cgroup: MemoryCgroup | None = None, root: Path = _ROOT
) -> OomCounters:
    """The counters now, to be read before and after; of our own cgroup, of a process's, or of the one given.

    A dead process has no cgroup any more: to read after a death, find its cgroup while it lives.
    """
    place = cgroup or find_memory_cgroup(pid, root)
    oom, kill = place.oom_events() if place else (None, None)
    return OomCounters(
        cgroup_oom=oom,
        cgroup_oom_kill=kill,
        machine_oom_kill=read_table(root / "proc" / "vmstat").get("oom_kill"),
    )


def read_rlimit(name: str) -> int | None:
    """This process's soft resource limit, such as "AS" or "NOFILE"; None if unlimited or unknown here."""
    try:
        resource = import_module("resource")
        soft = int(resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0])
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return None if soft == resource.RLIM_INFINITY else soft


def find_container(root: Path = _ROOT) -> str:
    """The kind of container this process is in, such as "docker"; empty if there is no sign of one."""
    if os.path.exists(root / ".dockerenv"):
        return "docker"
    if os.path.exists(root / "run" / ".containerenv"):
        return "podman"
    named = read_text(root / "run" / "systemd" / "container").strip()
    if named:
        return named[:40]
    text = read_text(root / "proc" / "self" / "cgroup")
    return next((word for word in _CONTAINER_WORDS if word in text), "")


def _portable_memory() -> tuple[int | None, int | None]:
    """Total and available memory where there is no /proc/meminfo."""
    try:
        memory = import_module("psutil").virtual_memory()
        return int(memory.total), int(memory.available)
    except Exception:  # psutil is missing, or cannot tell either (no /proc, an unknown system)
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), None
    except (AttributeError, OSError, ValueError):
        return None, None
