"""Tries, in a process that may die of it, what workers would like to do; one line of answer for each.

Run as a file by a bare interpreter (`python -I -S trial_child.py`); needs the standard library only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

# linux/ptrace.h
_PTRACE_SEIZE = 0x4206
_PTRACE_O_EXITKILL = 0x100000


def try_fork() -> None:
    """Make a child and see it end."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def try_memfd() -> None:
    """Make an anonymous file, and map it."""
    import mmap

    descriptor = os.memfd_create("outlive-trial")
    os.ftruncate(descriptor, mmap.PAGESIZE)
    with mmap.mmap(descriptor, mmap.PAGESIZE) as block:
        block[0] = 1
    os.close(descriptor)


def try_oom_score_adj() -> None:
    """Ask the kernel to take us first when memory runs out."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def try_ptrace() -> None:
    """Seize a child of ours, as the nursery does with a worker."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    libc.ptrace.restype = ctypes.c_long
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        os.read(reading, 1)  # ends, should we die first
        os._exit(0)
    os.close(reading)
    try:
        if libc.ptrace(_PTRACE_SEIZE, pid, None, _PTRACE_O_EXITKILL) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(writing)


def answer(name: str, trial: Callable[[], None]) -> None:
    """Write `name` and a colon, try, and finish the line with what went wrong, if anything did."""
    # The name first: if the trial kills us, as a seccomp filter may, the last line says which it was.
    os.write(1, f"{name}:".encode())
    try:
        trial()
    except AttributeError:
        reason = "not offered by this Python"
    except Exception as error:  # whatever it is, it is the answer
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    else:
        reason = "ok"
    os.write(1, f"{reason}\n".encode(errors="replace"))


def main() -> int:
    """Try everything, the most dangerous last."""
    answer("fork", try_fork)
    answer("memfd", try_memfd)
    answer("oom_score_adj", try_oom_score_adj)
    answer("ptrace", try_ptrace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
