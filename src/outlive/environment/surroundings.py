"""What a model would run in here: packages, Python, C library, processor, limits; found without importing."""

import os
import platform
import re
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from outlive.environment.packages import LITERT, NUMPY, TENSORFLOW, TFLITE_RUNTIME, find_version
from outlive.meter import is_root, process_limit, read_cpu_flags, read_overcommit, read_rlimit

Version = tuple[int, ...]

_LIMITS = ("AS", "NOFILE", "NPROC")
# Packages by the names that `runtime=` has.
_PACKAGES = {
    "litert": LITERT,
    "tensorflow": TENSORFLOW,
    "tflite_runtime": TFLITE_RUNTIME,
    "numpy": NUMPY,
}
_LONGEST_VERSION = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts, as they are; what is not known is None or left out.

    `packages` are versions by name: litert, tensorflow, tflite_runtime, numpy. `limits` are soft resource
    limits by name, those that are set. `libc` is "glibc", "musl" or empty.
    """

    system: str
    architecture: str
    bits: int
    python: Version
    libc: str = ""
    libc_version: Version = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    cpu_flags: frozenset[str] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    process_limit: int | None = None
    is_root: bool = False
    overcommit: int | None = None
    commit_left_bytes: int | None = None

    @property
    def runtimes(self) -> tuple[str, ...]:
        """The runtimes that are installed."""
        return tuple(name for name in self.packages if name != "numpy")


def look_around(root: Path = Path("/")) -> Surroundings:
    """The facts of this machine and this Python."""
    found = {name: find_version(package) for name, package in _PACKAGES.items()}
    limits = {name: read_rlimit(name) for name in _LIMITS}
    libc, version = _c_library(root)
    overcommit, left_bytes = read_overcommit(root)
    return Surroundings(
        system=platform.system(),
        architecture=platform.machine(),
        bits=8 * struct.calcsize("P"),
        python=sys.version_info[:2],
        libc=libc,
        libc_version=version,
        packages={name: text.split()[-1] for name, text in found.items() if text},
        cpu_flags=read_cpu_flags(root),
        limits={name: limit for name, limit in limits.items() if limit is not None},
        process_limit=process_limit(root),
        is_root=is_root(),
        overcommit=overcommit,
        commit_left_bytes=left_bytes,
    )


def as_version(text: str) -> Version:
    """The numbers a version begins with: (2, 14, 0) for 2.14.0rc1; nothing for what is no version."""
    found = re.match(r"\d+(\.\d+)*", text.strip()[:_LONGEST_VERSION])
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _c_library(root: Path) -> tuple[str, Version]:
    name, version = platform.libc_ver()
    if name == "glibc":
        return name, as_version(version)
    musl = any((root / "lib").glob("ld-musl-*")) if os.path.isdir(root / "lib") else False
    return ("musl", ()) if musl else (name, as_version(version))
