"""The few ptrace requests that we make, the registers of x86-64 and arm64, and failed divisions.

Each function returns nothing, or an empty value, when the thread is gone: it may be killed at any time.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..own_process import libc
from ..watched_process import yama_scope
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
# A worker ends with its tracer; a kernel lives on without it, and stops for new threads and signals only.
OF_WORKER = _O_TRACECLONE | _O_TRACEEXIT | _O_EXITKILL
OF_KERNEL = _O_TRACECLONE
EVENT_CLONE = 3
EVENT_EXIT = 6
EVENT_STOP = 128

_NT_PRSTATUS = 1  # elf.h
_SIGINFO_BYTES = 128  # asm-generic/siginfo.h, SI_MAX_SIZE
_SIGINFO_ADDRESS = 16

_LONGEST_INSTRUCTION_BYTES = 15
_OPCODE = 0xF7  # Intel SDM, volume 2: DIV and IDIV of 16, 32 or 64 bits
_DIV, _IDIV = 6, 7  # the middle field of the byte after the opcode
_OPERAND_SIZE_PREFIX = 0x66
# The processor's numbers of its registers, as DWARF numbers (System V ABI for AMD64, figure 3.36).
_DWARF = (0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15)
_RAX, _RDX = 0, 1


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


class _IoVector(ctypes.Structure):
    """struct iovec, sys/uio.h."""

    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _load() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    function = libc.ptrace
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


def seize(process: int, options: int = OF_WORKER) -> str:
    """Become the tracer of a process of ours without stopping it; empty, or why that was refused."""
    code = _request(_SEIZE, process, None, options)
    if code:
        return _why_not(process, code)
    # Its other threads, if it already has any: one that is not yet ours may start one more meanwhile.
    known = {process}
    while new := _threads(process) - known:
        for thread in new:
            _request(_SEIZE, thread, None, options)
        known |= new
    return ""


def _threads(process: int) -> set[int]:
    try:
        return set(map(int, os.listdir("/proc/%d/task" % process)))
    except OSError:
        return set()


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
    scope = yama_scope()
    if scope >= 2:
        return "the system forbids ptrace (kernel.yama.ptrace_scope = %d)" % scope
    return "ptrace is not permitted (a seccomp filter, or a process that is not dumpable)"


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
    vector = _IoVector(ctypes.addressof(buffer), ctypes.sizeof(buffer))
    if _request(_GETREGSET, thread, _NT_PRSTATUS, ctypes.addressof(vector)):
        return None
    if vector.size != machine.words * ctypes.sizeof(ctypes.c_uint64):
        return None
    values = {number: buffer[position] for number, position in enumerate(machine.order)}
    return Registers(buffer[machine.pc], machine.stack_register, machine.link_register, values)


class DivisionOperands(NamedTuple):
    """A division without a result."""

    dividend: int
    divisor: int
    bits: int


def failed_division(process: tracee.Tracee, registers: Registers) -> dict[str, Any]:
    """The division at which a thread stands, as evidence; nothing where it is none that we can read.

    x86-64 raises the same signal for a divisor of zero and for a quotient too large for its register, which
    is the smallest integer divided by -1. arm64 raises none.
    """
    if platform.machine() != "x86_64":
        return {}
    code = process.read(registers.pc, _LONGEST_INSTRUCTION_BYTES)
    found = decode_division(code, registers.values, registers.pc, process.read)
    return {} if found is None else {"division": found._asdict()}


def decode_division(
    code: bytes, registers: dict[int, int], pc: int = 0, read: Callable[[int, int], bytes] = lambda *_: b""
) -> DivisionOperands | None:
    """The division that these bytes are; `read` gives bytes of memory, where a divisor may lie."""
    at, bits, extension = 0, 32, 0
    while at < len(code) and (code[at] == _OPERAND_SIZE_PREFIX or code[at] >> 4 == 4):
        if code[at] == _OPERAND_SIZE_PREFIX:
            bits = 16
        else:
            extension = code[at]  # REX, the last prefix
        at += 1
    if at + 1 >= len(code) or code[at] != _OPCODE:
        return None
    kind = code[at + 1] >> 3 & 7
    if kind not in (_DIV, _IDIV):
        return None
    bits, signed = 64 if extension & 8 else bits, kind == _IDIV
    if code[at + 1] >> 6 == 3:
        word = registers.get(_DWARF[(code[at + 1] & 7) | (extension & 1) << 3], 0)
    else:
        stored = read(_address(code, at + 1, extension, registers, pc), bits // 8)
        if len(stored) != bits // 8:
            return None
        word = int.from_bytes(stored, "little")
    mask = (1 << bits) - 1
    wide = (registers.get(_RDX, 0) & mask) << bits | registers.get(_RAX, 0) & mask
    return DivisionOperands(_value(wide, 2 * bits, signed), _value(word, bits, signed), bits)


def _address(code: bytes, at: int, extension: int, registers: dict[int, int], pc: int) -> int:
    """Where an operand in memory lies: Intel SDM, volume 2, tables 2-2 and 2-3."""
    mode, low = code[at] >> 6, code[at] & 7
    end, address = at + 1, 0
    if low == 4:  # another byte: base + index * scale
        scaled = code[end] if end < len(code) else 0
        end += 1
        low = scaled & 7
        index = (scaled >> 3 & 7) | (extension & 2) << 2
        if index != 4:
            address += registers.get(_DWARF[index], 0) << (scaled >> 6)
    elif mode == 0 and low == 5:  # from the next instruction on
        return pc + end + 4 + _value(int.from_bytes(code[end : end + 4], "little"), 32, signed=True)
    size = 1 if mode == 1 else 4
    if mode or low == 5:
        address += _value(int.from_bytes(code[end : end + size], "little"), 8 * size, signed=True)
    if mode or low != 5:
        address += registers.get(_DWARF[low | (extension & 1) << 3], 0)
    return address & (1 << 64) - 1


def _value(word: int, bits: int, signed: bool) -> int:
    word &= (1 << bits) - 1
    return word - (1 << bits) if signed and word >> (bits - 1) else word
