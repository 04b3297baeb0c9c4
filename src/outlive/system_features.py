"""What some systems have and others have not, for modules that lie below `process` and `meter`.

Each function has an answer on every system, so that a new platform changes nothing here.
"""

import contextlib
import io
import mmap
import os
import sys
from collections.abc import Iterator

# Whether `reserve_room` keeps its promise.
CAN_RESERVE_ROOM = hasattr(os, "posix_fallocate")
# For `os.open`: refuse a symbolic link.
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
# asm-generic/mman-common.h. What is reserved is not counted as used, also where overcommitting is off.
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0


def is_own(status: os.stat_result) -> bool:
    """True for a file of this user; where files have no owners, for every file."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def names_descriptors(folder: str) -> bool:
    """True for a folder whose entries are descriptors of a process (/dev/fd leads there)."""
    return folder.startswith("/proc/")


def reserve_room(descriptor: int, size_bytes: int) -> None:
    """Make sure that the disk has room for a file of this size; OSError if it has not."""
    if CAN_RESERVE_ROOM:
        os.posix_fallocate(descriptor, 0, size_bytes)


def read_at(file: io.FileIO, size_bytes: int, offset: int) -> bytes:
    """Bytes of a file from an offset on; fewer where it ends."""
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), size_bytes, offset)
    file.seek(offset)
    return file.read(size_bytes)


def lazy_zeroes(size_bytes: int) -> mmap.mmap:
    """Zeroes that take no memory until they are written to."""
    if not _PRIVATE:
        return mmap.mmap(-1, size_bytes)
    made = mmap.mmap(-1, size_bytes, flags=_PRIVATE | _NO_RESERVE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        made.madvise(mmap.MADV_NOHUGEPAGE)  # or each byte that is looked at would cost 2 MiB
    return made


@contextlib.contextmanager
def without_data_limit() -> Iterator[None]:
    """Lift this process's own limit of memory for a moment, where there is one."""
    try:
        import resource

        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (before[1], before[1]))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
