"""Descriptors that cannot be mistaken: never 0, 1 or 2, and never inherited by accident."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from typing import Any

from outlive.platforms.posix.child.anonymous_files import anonymous_file
from outlive.platforms.posix.process import system_calls

_LAST_STANDARD = 2


@contextlib.contextmanager
def above_standard() -> Iterator[None]:
    """While this lasts, new descriptors are 3 or more, also in a program that closed its stdin or stdout.

    A pipe of ours that became descriptor 1 would be written to by every `print` of the program.
    """
    plugs: list[int] = []
    try:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD:
            plugs.append(descriptor)
        os.close(descriptor)
        yield
    finally:
        close_all(plugs)


def close_all(descriptors: list[int]) -> None:
    """Close them all and empty the list, so that none is closed twice."""
    while descriptors:
        os.close(descriptors.pop())


def reserve(descriptor: int, size_bytes: int) -> None:
    """Make an anonymous file at least this large; OSError if there is no room for it."""
    if os.fstat(descriptor).st_size >= size_bytes:
        return
    os.ftruncate(descriptor, size_bytes)
    if not _is_sealed(descriptor) and hasattr(os, "posix_fallocate"):
        # A hole in a file on a full disk kills a process that writes to it through a mapping (SIGBUS).
        os.posix_fallocate(descriptor, 0, size_bytes)


def _is_sealed(descriptor: int) -> bool:
    """True for a block in memory; a temporary file cannot be sealed."""
    try:
        return bool(fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    except (AttributeError, OSError):
        return False


def file_with(name: str, content: bytes | memoryview) -> int:
    """An anonymous file that holds this."""
    descriptor = anonymous_file(name)
    view = memoryview(content).cast("B")
    try:
        while len(view):
            view = view[system_calls.write(descriptor, view) :]
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_into(descriptor: int, place: memoryview, offset: int) -> int:
    """Fill the place with bytes of a file from an offset on; how many it had."""
    return os.preadv(descriptor, [place], offset)


def write_at(descriptor: int, data: memoryview, offset: int) -> int:
    """Write to a file from an offset on; how many bytes were written."""
    return os.pwrite(descriptor, data, offset)


def open_private(path: str | os.PathLike[str], flags: int = 0) -> int:
    """Open a file of this user for reading and writing, for no other and through no link."""
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)


def user_id() -> int:
    """The number of the user, as files have it for their owner."""
    return os.getuid()


def lock_file(file: Any, wait: bool = True) -> None:
    """Lock a file for this process; without waiting, OSError if another has it."""
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def unlock_file(file: Any) -> None:
    """Let others lock the file."""
    fcntl.flock(file, fcntl.LOCK_UN)
