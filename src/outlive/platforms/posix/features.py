"""What files and memory can do here, for modules that lie below `process` and `meter`."""

import contextlib
import io
import mmap
import os
import resource
import sys
from collections.abc import Iterator

__all__ = [
    "CAN_RESERVE_ROOM", "NO_LINK", "is_own", "lazy_zeroes", "names_descriptors", "read_at", "reserve_room",
    "without_data_limit",
]  # fmt: skip
# Whether `reserve_room` keeps its promise.
CAN_RESERVE_ROOM = hasattr(os, "posix_fallocate")
# For `os.open`: refuse a symbolic link.
NO_LINK = os.O_NOFOLLOW
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
# asm-generic/mman-common.h. What is reserved is not counted as used, also where overcommitting is off.
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0


def is_own(status: os.stat_result) -> bool:
    """True for a file of this user."""
    return status.st_uid == os.getuid()


def names_descriptors(folder: str) -> bool:
    """True for a folder whose entries are descriptors of a process (/dev/fd leads there)."""
    return folder.startswith("/proc/")


def reserve_room(descriptor: int, size_bytes: int) -> None:
    """Make sure that the disk has room for a file of this size; OSError if it has not."""
    if CAN_RESERVE_ROOM:
        os.posix_fallocate(descriptor, 0, size_bytes)


def read_at(file: io.FileIO, size_bytes: int, offset: int) -> bytes:
    """Bytes of a file from an offset on; fewer where it ends."""
    return os.pread(file.fileno(), size_bytes, offset)


def lazy_zeroes(size_bytes: int) -> mmap.mmap:
    """Zeroes that take no memory until they are written to."""
    made = mmap.mmap(-1, size_bytes, flags=_PRIVATE | _NO_RESERVE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        made.madvise(mmap.MADV_NOHUGEPAGE)  # or each byte that is looked at would cost 2 MiB
    return made


@contextlib.contextmanager
def without_data_limit() -> Iterator[None]:
    """Lift this process's own limit of memory for a moment, where there is one."""
    try:
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (before[1], before[1]))
    except (OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
