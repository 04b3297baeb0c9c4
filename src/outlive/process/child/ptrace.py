"""The few ptrace requests that we make, and the registers of x86-64 and arm64.

Each function returns nothing, or an empty value, when the thread is gone: it may be killed at any time.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from typing import Any, NamedTuple

from . import tracee

# linux/ptrace.h
_CONT = 7
_GETEVENTMSG = 0x4201
_GETSIGINFO = 0x4202
_GETREGSET = 0x4204
_SEIZE = 0x4206
_LISTEN = 0x4208
_O_TRACECLONE = 0x8
_O_TRACEEXIT = 0x40
_O_EXITKILL = 0x100000
EVENT_CLONE = 3
EVENT_EXIT = 6
EVENT_STOP = 128

_NT_PRSTATUS = 1  # elf.h
_SIGINFO_BYTES = 128  # asm-generic/siginfo.h, SI_MAX_SIZE
_SIGINFO_ADDRESS = 16


class Registers(NamedTuple):
    """The general registers of a thread by their DWARF numbers, with the two that unwinding starts from."""

    pc: int
    stack_register: int
    link_register: int | None
    values: dict[int, int]


class _Machine(NamedTuple):
    """Where the registers lie in what the kernel gives: position of each DWARF register 0, 1, 2, ..."""

    words: int
    order: list[int]
    pc: int
    stack_register: int
    link_register: int | None


_MACHINES = {
    # struct user_regs_struct, sys/user.h; numbers: System V ABI for AMD64, figure 3.36
    "x86_64": _Machine(27, [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0], 16, 7, None),
    # struct user_pt_regs, asm/ptrace.h; numbers: DWARF for the Arm 64-bit Architecture, section 4.1
    "aarch64": _Machine(34, list(range(32)), 32, 31, 30),
}


class _Vector(ctypes.Structure):
    """struct iovec, sys/uio.h."""

    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _load() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).ptrace
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_long
    function.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    return function


_function = _load()


def _request(request: int, thread: int, address: Any, data: Any) -> int:
    """Make a request; 0, or the number of the error."""
    if _function is None:
        return errno.ENOSYS
    if _function(request, thread, address, data) != -1:
        return 0
    return ctypes.get_errno() or errno.EIO


def seize(process: int) -> str:
    """Become the tracer of a process of ours without stopping it; empty, or why that was refused."""
    reason = ""
    for thread in _threads(process):
        code = _request(_SEIZE, thread, None, _O_TRACECLONE | _O_TRACEEXIT | _O_EXITKILL)
        if code and thread == process:
            reason = _why_not(process, code)
    return reason


def _threads(process: int) -> list[int]:
    """The process itself, then its other threads, if it already has any."""
    try:
        names = os.listdir("/proc/%d/task" % process)
    except OSError:
        names = []
    return [process, *(int(name) for name in names if int(name) != process)]


def _why_not(process: int, code: int) -> str:
    if _function is None:
        return "this system has no ptrace"
    if code == errno.ESRCH:
        return "the process is already gone"
    if code == errno.ENOSYS:
        return "the system call ptrace does not exist here (a sandbox such as gVisor or seccomp may hide it)"
    if code != errno.EPERM:
        return "ptrace failed: " + os.strerror(code)
    status = tracee.read_status(process)
    if status.get("State", "Z")[0] in "ZX":  # a zombie, or gone altogether
        return "the process is already gone"
    tracer = status.get("TracerPid", "0")
    if tracer not in ("", "0"):
        return "another program already traces the process (pid %s)" % tracer
    scope = _yama_scope()
    if scope >= 2:
        return "the system forbids ptrace (kernel.yama.ptrace_scope = %d)" % scope
    return "ptrace is not permitted (a seccomp filter, or a process that is not dumpable)"


def _yama_scope() -> int:
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def resume(thread: int, signal_number: int) -> None:
    """Let a stopped thread go on, and give it the signal (0: none)."""
    _request(_CONT, thread, None, signal_number or None)


def leave_stopped(thread: int) -> None:
    """Let a thread that was stopped by SIGSTOP and the like stay so, and notice SIGCONT."""
    _request(_LISTEN, thread, None, None)


def event_message(thread: int) -> int:
    """What the event is about: for a clone, the new thread."""
    message = ctypes.c_ulong(0)
    _request(_GETEVENTMSG, thread, None, ctypes.addressof(message))
    return message.value


def signal_origin(thread: int) -> tuple[int, int | None]:
    """The code that says who sent the signal (above 0: the kernel, for a fault), and the faulting address."""
    info = ctypes.create_string_buffer(_SIGINFO_BYTES)
    if _request(_GETSIGINFO, thread, None, ctypes.addressof(info)):
        return 0, None
    code = int.from_bytes(info.raw[8:12], "little", signed=True)
    return code, int.from_bytes(info.raw[_SIGINFO_ADDRESS : _SIGINFO_ADDRESS + 8], "little")


def registers(thread: int) -> Registers | None:
    """The registers of a stopped thread; None for a machine, or a 32-bit process, that we do not know."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return None
    buffer = (ctypes.c_uint64 * 64)()
    vector = _Vector(ctypes.addressof(buffer), ctypes.sizeof(buffer))
    if _request(_GETREGSET, thread, _NT_PRSTATUS, ctypes.addressof(vector)):
        return None
    if vector.size != machine.words * ctypes.sizeof(ctypes.c_uint64):
        return None
    values = {number: buffer[position] for number, position in enumerate(machine.order)}
    return Registers(buffer[machine.pc], machine.stack_register, machine.link_register, values)
