"""What the kernel says of the machine and of this process: memory, limits, container, processor."""

import os
from importlib import import_module
from pathlib import Path

from outlive.meter.machine import MachineMemory, OomCounters
from outlive.platforms.posix.meter.cgroups import MemoryCgroup, find_memory_cgroup, folder_used_bytes
from outlive.platforms.posix.meter.kernel_files import read_number, read_table, read_text

_ROOT = Path("/")
# The file that each fact is read from, as evidence names it.
FACT_SOURCES = {
    "cpu_flags": "/proc/cpuinfo",
    "overcommit": "/proc/sys/vm",
    "commit_left_bytes": "/proc/meminfo",
    "shared_memory": "/dev/shm",
}
# A path of ours in the tree of cgroups that holds one of these was made by a container runtime.
_NVIDIA_DEVICES = ("/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia/version", "/dev/dxg")
_CONTAINER_WORDS = ("kubepods", "docker", "libpod", "containerd", "lxc")


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
        oom_spares_others=cgroup is None or not cgroup.ends_as_a_whole(),
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


def read_cpu_flags(root: Path = _ROOT) -> frozenset[str] | None:
    """What the first processor says it can do; None where the kernel does not say."""
    for line in read_text(root / "proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return None


def read_overcommit(root: Path = _ROOT) -> tuple[int | None, int | None]:
    """The mode of overcommitting memory, and how many bytes are left to be granted."""
    table = read_table(root / "proc/meminfo")
    known = {"CommitLimit", "Committed_AS"} <= table.keys()
    left = 1024 * (table["CommitLimit"] - table["Committed_AS"]) if known else None
    return read_number(root / "proc/sys/vm/overcommit_memory"), left


def read_ptrace_scope(root: Path = _ROOT) -> int | None:
    """Yama's ptrace_scope; None where the kernel has none."""
    return read_number(root / "proc/sys/kernel/yama/ptrace_scope")


def read_boot_id(root: Path = _ROOT) -> str:
    """Which run of the system this is; empty where it does not say."""
    return read_text(root / "proc/sys/kernel/random/boot_id").strip()


def read_shared_memory(root: Path = _ROOT) -> tuple[int | None, int | None]:
    """Size and free bytes of /dev/shm; None if it is not there, or may not be written to."""
    folder = root / "dev" / "shm"
    try:
        if not os.access(folder, os.W_OK):
            return None, None
        seen = os.statvfs(folder)
    except (OSError, AttributeError):
        return None, None
    return seen.f_frsize * seen.f_blocks, seen.f_frsize * seen.f_bavail


def read_system_number(name: int | str) -> int | None:
    """What sysconf(3) says, by a name or by its number where Python has no name for it; None if nothing."""
    try:
        number = os.sysconf(name)
    except (AttributeError, OSError, ValueError):
        return None
    return number if number > 0 else None


def process_group(pid: int) -> int | None:
    """The group of a process; None if there is no such process here."""
    try:
        return os.getpgid(pid)
    except (OSError, AttributeError, OverflowError):
        return None


def has_nvidia_driver() -> bool:
    """True where a driver shows itself: on Linux, in containers, under WSL."""
    return any(map(os.path.exists, _NVIDIA_DEVICES))


def is_root() -> bool:
    """True for the user that limits do not hold for."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _portable_memory() -> tuple[int | None, int | None]:
    """Total and available memory where there is no /proc/meminfo."""
    try:
        memory = import_module("psutil").virtual_memory()
        return int(memory.total), int(memory.available)
    except Exception:  # psutil is missing, or cannot tell either (no /proc, an unknown system)
        pages, page_bytes = map(read_system_number, ("SC_PHYS_PAGES", "SC_PAGE_SIZE"))
        return (pages * page_bytes if pages and page_bytes else None), None
