"""Fake /proc and /sys/fs/cgroup trees, as a root folder to read instead of `/`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GIB = 1 << 30
UNLIMITED_V1 = 9223372036854771712

V1_MOUNT = "32 25 0:28 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
V2_MOUNT = "31 25 0:27 {root} {at} rw,relatime - cgroup2 cgroup2 rw"
MEMINFO = (
    "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n"
)


def write(root: Path, files: Mapping[str, object]) -> Path:
    """Write the files below the root, and give it."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else str(content).encode())
    return root


def v1(root: Path, own: str, files: Mapping[str, object], mount_root: str = "/") -> Path:
    """A machine with version 1; `files` are below /sys/fs/cgroup/memory."""
    write(root, {
        "proc/self/cgroup": f"5:cpu,cpuacct:/\n4:memory:{own}\n",
        "proc/self/mountinfo": V1_MOUNT.format(root=mount_root),
        "proc/meminfo": MEMINFO,
    })  # fmt: skip
    return write(root, {f"sys/fs/cgroup/memory/{name}": content for name, content in files.items()})


def v2(root: Path, own: str, files: Mapping[str, object], mount_root: str = "/") -> Path:
    """A machine with version 2; `files` are below /sys/fs/cgroup."""
    write(root, {
        "proc/self/cgroup": f"0::{own}\n",
        "proc/self/mountinfo": V2_MOUNT.format(root=mount_root, at="/sys/fs/cgroup"),
        "proc/meminfo": MEMINFO,
        "sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
    })  # fmt: skip
    return write(root, {f"sys/fs/cgroup/{name}": content for name, content in files.items()})
