"""What this process holds at this moment, after everything free was given back: numbers for a leak test."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import sys
import time
from typing import Any

from ..operating_system import own_process

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


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


def settle() -> None:
    """Collect garbage and give what is free back to the system, so that what is left is really held."""
    gc.collect()
    own_process.trim_heap()


def read() -> dict[str, Any]:
    """All the numbers; None for what this system does not tell."""
    settle()
    memory = own_process.memory() or _portable_memory()
    return {
        "at": time.monotonic(),
        "private_bytes": memory.get("private_bytes"),
        "shared_bytes": shared_bytes(),
        "heap_bytes": heap_bytes(),
        "mapped_bytes": mapped_bytes(),
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks() if hasattr(sys, "getallocatedblocks") else None,
        "descriptors": _count("/proc/self/fd"),
        "threads": _count("/proc/self/task"),
    }


def _portable_memory() -> dict[str, int]:
    """Private memory where there is no /proc, if psutil is there to ask."""
    try:
        process = importlib.import_module("psutil").Process()
        return {"private_bytes": int(process.memory_full_info().uss)}
    except Exception:  # not installed, or it cannot tell either
        return {}


def heap_bytes() -> int | None:
    """Bytes that malloc has given out and not got back, in all its arenas; None without glibc's count."""
    if _mallinfo2 is None:
        return None
    found = _mallinfo2()
    return int(found.uordblks + found.hblkhd)


def shared_bytes() -> int | None:
    """Resident memory that has no file and is not private: mmap.mmap(-1, n) of Python is of this kind."""
    # Where the kernel's counters are not exact (own_process.memory says which), the pages are walked instead.
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
    try:
        with open("/proc/self/maps", "rb") as file:
            return sum(size for size, _ in usable_mappings(file.read()))
    except (OSError, ValueError):
        return None


def usable_mappings(text: bytes) -> list[tuple[int, bytes]]:
    """Size and name of each mapping that may be touched and is no thread's stack.

    A stack lies right above a page that may not be touched (glibc, nptl/allocatestack.c); what malloc has
    reserved and not yet made usable is not there either.
    """
    found = []
    guard_end = -1
    for line in text.splitlines():
        parts = line.split(None, 5)
        first, _, last = parts[0].partition(b"-")
        start, end = int(first, 16), int(last, 16)
        if parts[1].startswith(b"---"):
            guard_end = end if end - start == _PAGE_BYTES else -1
            continue
        name = parts[5] if len(parts) > 5 else b""
        if not (start == guard_end and parts[1] == b"rw-p" and not name):
            found.append((end - start, name))
    return found


def _count(folder: str) -> int | None:
    try:
        return len(os.listdir(folder))
    except OSError:
        return None
