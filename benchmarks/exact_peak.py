"""The most private memory a program holds in each of its stages, to the page, however busy the machine is.

Anonymous memory shrinks by a few system calls only. A tracer that stops the program before each of them, and
reads what it holds, sees every peak; one that looks every so many milliseconds misses some.

    program ── munmap, brk, madvise, mremap ──> stopped ──> /proc/PID/statm ──> the most since the last mark
            ── write to stdout ──────────────> stopped ──> a stage is over
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outlive.meter import MemoryProbe, open_probe

# linux/ptrace.h
_SYSCALL, _SEIZE, _INTERRUPT, _GET_SYSCALL_INFO = 24, 0x4206, 0x4207, 0x420E
_OPTIONS = 0x1 | 0x8 | 0x100000  # TRACESYSGOOD, TRACECLONE, EXITKILL
_SYSCALL_STOP = signal.SIGTRAP | 0x80 if sys.platform == "linux" else 0
_ENTRY = 1  # PTRACE_SYSCALL_INFO_ENTRY
_WALL = 0x40000000  # __WALL, linux/wait.h: threads too


class _Calls(NamedTuple):
    """Numbers of system calls: those that may give memory back, and `write`."""

    shrinking: frozenset[int]  # munmap, brk, madvise, mremap, mmap (over what is there), exit_group
    write: int


_CALLS = {
    "x86_64": _Calls(frozenset({11, 12, 28, 25, 9, 231}), 1),  # asm/unistd_64.h
    "aarch64": _Calls(frozenset({215, 214, 233, 216, 222, 94}), 64),  # asm-generic/unistd.h
}


class _Info(ctypes.Structure):
    """struct ptrace_syscall_info of a stop at the entry of a call."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    )


def can_trace() -> bool:
    """True on Linux machines whose system calls are known here."""
    return sys.platform == "linux" and platform.machine() in _CALLS


def stage_peaks(
    command: Sequence[str], environment: Mapping[str, str], names: Sequence[str]
) -> dict[str, int]:
    """The most private bytes in each stage above those at the start; of the stages it came to the end of.

    The program writes to stdout and reads a byte from stdin when it is ready: what it holds then is the
    baseline. From there on each write to stdout ends a stage.
    """
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=quiet, env=environment, start_new_session=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        if not child.stdout.read(1):
            return {}
        with open_probe(child.pid) as probe:
            watch = _Watch(child.pid, probe)
            baseline = watch.most
            child.stdin.write(b"x")
            child.stdin.flush()
            child.returncode = watch.follow()
    return {name: most - baseline for name, most in zip(names, watch.stages, strict=False)}


@dataclass(slots=True)
class _Watch:
    """The tracer of one process; `most` is what it held at most since the last mark."""

    process: int
    probe: MemoryProbe
    most: int = 0
    stages: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Become its tracer."""
        self.most = self._private()
        if _ptrace(_SEIZE, self.process, 0, _OPTIONS):
            raise OSError(ctypes.get_errno(), "the program cannot be traced")
        _ptrace(_INTERRUPT, self.process, 0, 0)

    def follow(self) -> int:
        """Until it ends; its exit code."""
        while True:
            thread, status = os.waitpid(-self.process, _WALL)  # its group: other children are not ours
            if not os.WIFSTOPPED(status):
                if thread == self.process:
                    return os.waitstatus_to_exitcode(status)
                continue
            number, event = os.WSTOPSIG(status), status >> 16
            if number == _SYSCALL_STOP:
                self._look(thread)
            passed_on = 0 if event or number == _SYSCALL_STOP else number
            _ptrace(_SYSCALL, thread, 0, passed_on)

    def _look(self, thread: int) -> None:
        info, calls = _Info(), _CALLS[platform.machine()]
        _ptrace(_GET_SYSCALL_INFO, thread, ctypes.sizeof(info), ctypes.addressof(info))
        if info.op != _ENTRY:
            return
        is_mark = info.number == calls.write and info.arguments[0] == 1
        if is_mark or info.number in calls.shrinking:
            now = self._private()
            self.most = max(self.most, now)
            if is_mark:
                self.stages.append(self.most)
                self.most = now

    def _private(self) -> int:
        sample = self.probe.read_grown()
        return 0 if sample is None else sample.private_bytes


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, thread: int, address: int, data: int) -> bool:
    """Make a request; True if it was refused."""
    return bool(_libc.ptrace(request, thread, address, data) == -1)
