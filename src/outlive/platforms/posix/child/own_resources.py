"""What this process holds of the system: heap, shared memory, mappings, models, descriptors, threads."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable

from . import own_process
from .tracing.tracee import Tracee

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class _Mallinfo2(ctypes.Structure):
    """glibc 2.33 and later, malloc.h: `hblkhd` are bytes in mappings of their own, `uordblks` the others."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def _find_mallinfo() -> Any:
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return None
    function.restype = _Mallinfo2
    return function


_mallinfo2 = _find_mallinfo()


def heap_bytes() -> int | None:
    """Bytes that malloc has given out and not got back, in all its arenas; None without glibc's count."""
    if _mallinfo2 is None:
        return None
    found = _mallinfo2()
    return int(found.uordblks + found.hblkhd)


def model_files() -> list[str]:
    """The files of models that it has mapped."""
    process = Tracee(os.getpid())
    try:
        return process.model_files()
    finally:
        process.close()


def shared_bytes() -> int | None:
    """Resident memory that has no file and is not private: mmap.mmap(-1, n) of Python is of this kind."""
    # Where the kernel's counters are not exact (`own_process.memory`), the pages are walked instead.
    exact = own_process.counters_are_exact()
    path, name = ("status", b"RssShmem:") if exact else ("smaps_rollup", b"Pss_Shmem:")
    try:
        with open("/proc/self/" + path, "rb") as file:
            sizes = [int(line.split()[1]) * 1024 for line in file if line.startswith(name)]
    except (OSError, ValueError, IndexError):
        return None
    return sizes[0] if sizes else None


def mapped_bytes() -> int | None:
    """Address space that can be used, without the stacks of threads, which are counted as threads."""
    found = mappings()
    return sum(size for size, _ in found) if found else None


def mappings() -> list[tuple[int, str]]:
    """Size and name of each mapping that may be touched and is no thread's stack; none if not known.

    A stack lies right above a page that may not be touched (glibc, nptl/allocatestack.c); what malloc has
    reserved and not yet made usable is not there either.
    """
    try:
        with open("/proc/self/maps", "rb") as file:
            return _usable(file.read())
    except (OSError, ValueError):
        return []


def _usable(text: bytes) -> list[tuple[int, str]]:
    found = []
    guard_end = -1
    for line in text.splitlines():
        parts = line.split(None, 5)
        first, _, last = parts[0].partition(b"-")
        start, end = int(first, 16), int(last, 16)
        if parts[1].startswith(b"---"):
            guard_end = end if end - start == _PAGE_BYTES else -1
            continue
        name = parts[5].decode(errors="replace") if len(parts) > 5 else ""
        if not (start == guard_end and parts[1] == b"rw-p" and not name):
            found.append((end - start, name))
    return found


def count_descriptors() -> int | None:
    """How many descriptors are open; None where the system does not say."""
    return _count("/proc/self/fd")


def count_threads() -> int | None:
    """How many threads there are; None where the system does not say."""
    return _count("/proc/self/task")


def _count(folder: str) -> int | None:
    try:
        return len(os.listdir(folder))
    except OSError:
        return None


def descriptor_names() -> Iterable[str]:
    """What each descriptor leads to; numbers that tell two of a kind apart are left out."""
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return
    for number in numbers:
        try:
            name = os.readlink("/proc/self/fd/" + number)
        except OSError:
            continue
        yield name if name.startswith("/") else name.partition(":[")[0]
