"""Files without a name: in memory on Linux, elsewhere temporary files that are removed once they are open.

Parent, nursery and workers use them for shared memory and for the last words of a worker.
"""

from __future__ import annotations

import os
import tempfile
from typing import Callable, Dict, List

_TAIL_BYTES = 8192


def anonymous_file(name: str, sealed: bool = False) -> int:
    """A descriptor of a new file without a name; a `sealed` one cannot be made shorter."""
    if hasattr(os, "memfd_create"):
        try:
            descriptor = os.memfd_create(name, os.MFD_CLOEXEC | (os.MFD_ALLOW_SEALING if sealed else 0))
        except OSError:
            return _temporary_file(name)
        return _or_closed(descriptor, _forbid_shrinking) if sealed else descriptor
    return _temporary_file(name)


def _or_closed(descriptor: int, change: Callable[[int], None]) -> int:
    """The descriptor, changed; closed if that cannot be."""
    try:
        change(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _forbid_shrinking(descriptor: int) -> None:
    """A worker that cut the block short would kill the parent at its next look (SIGBUS)."""
    import fcntl

    add_seals = getattr(fcntl, "F_ADD_SEALS", 1033)  # linux/fcntl.h; Python 3.9 names it
    fcntl.fcntl(descriptor, add_seals, getattr(fcntl, "F_SEAL_SHRINK", 2))


def _temporary_file(name: str) -> int:
    descriptor, path = tempfile.mkstemp(prefix=name)
    os.unlink(path)
    return descriptor


def log_file(name: str) -> int:
    """A new file without a name; each write goes to its end, also after the file was made shorter."""
    return _or_closed(anonymous_file(name), _append_only)


def _append_only(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # a system without it has no worker that shortens the file either
        return
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_APPEND)


def tail_of(descriptor: int, size_bytes: int = _TAIL_BYTES) -> str:
    """The last of what was written to such a file; nothing if it cannot be read."""
    if descriptor < 0:
        return ""
    try:
        end = os.fstat(descriptor).st_size
        data = os.pread(descriptor, size_bytes, max(0, end - size_bytes))
    except OSError:
        return ""
    return data.decode("utf-8", "replace")


def open_last_words() -> List[int]:
    """The two files for what a worker prints and for what its faulthandler writes; both, or OSError."""
    files: List[int] = []
    try:
        files += [log_file("outlive-errors")]
        files += [log_file("outlive-faults")]
    except BaseException:
        for one in files:
            os.close(one)
        raise
    return files


def read_last_words(files: List[int]) -> Dict[str, str]:
    """The end of both files, by the names that the record of a death has for them."""
    return dict(zip(("stderr_tail", "fault_trace"), map(tail_of, files)))
