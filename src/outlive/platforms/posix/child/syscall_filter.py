"""The filter of system calls as a program for the kernel: number and arguments in, a verdict out.

The program is classic BPF, as linux/seccomp.h and linux/filter.h describe it. It finds a number by halving:
the kernel tries it on every number when it is installed, and is done sooner.
"""

from __future__ import annotations

import errno
import struct
from typing import Dict, List, Tuple

from . import syscalls

Instruction = Tuple[int, int, int, int]  # code, jump if true, jump if false, constant

# linux/bpf_common.h
_LOAD, _AND, _RETURN, _IF_EQUAL, _IF_AT_LEAST = 0x20, 0x54, 0x06, 0x15, 0x35
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16  # linux/seccomp.h: struct seccomp_data
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
_NOT_PERMITTED, _NO_ACCESS, _NO_CALL = (REFUSE | code for code in (errno.EPERM, errno.EACCES, errno.ENOSYS))

_CLONE_THREAD = 0x00010000  # linux/sched.h; the mask has all CLONE_NEW* of namespaces too
_CLONE_MASK = _CLONE_THREAD | 0x7E020000
_OPEN_MASK = 0o3 | 0o100 | 0o1000  # asm-generic/fcntl.h: O_ACCMODE, O_CREAT, O_TRUNC
# linux/prctl.h: PDEATHSIG, DUMPABLE (it hides a process from who measures it), SECUREBITS, MM, SUBREAPER,
# CAP_AMBIENT, PTRACER.
_PRCTL = (1, 4, 28, 35, 36, 47, 0x59616D61)
_IOCTL = (0x5412, 0x541C)  # asm-generic/ioctls.h: TIOCSTI types into a terminal, TIOCLINUX pastes there
_FCNTL = (8, 10, 15)  # asm-generic/fcntl.h: F_SETOWN, F_SETSIG, F_SETOWN_EX let a file send signals
# Stands for the process's own number until that is known.
_OWN = 0x7F0FF1CE


def make_filter(machine: str, for_model: bool) -> bytes:
    """The program for a kind of machine; `for_process` completes it."""
    program = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_IF_EQUAL, 1, 0, syscalls.MACHINES[machine][1]),
        _give(_NO_CALL),
        (_LOAD, 0, 0, _NUMBER_AT),
        *_tree(_spans(_answers(machine, for_model))),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def for_process(program: bytes, process: int) -> bytes:
    """The same program for one process."""
    return program.replace(struct.pack("<I", _OWN), struct.pack("<I", process))


def _answers(machine: str, for_model: bool) -> Dict[int, List[Instruction]]:
    """What is answered to each call that is not simply allowed."""
    answers: Dict[int, List[Instruction]] = {}
    refused = [syscalls.PROCESSES, syscalls.TALK, syscalls.FILES, syscalls.MACHINE]
    for table in refused + ([syscalls.OF_MODELS] if for_model else []):
        for number in syscalls.numbers(table, machine).values():
            answers[number] = [_give(_NOT_PERMITTED)]
    for number in syscalls.numbers(syscalls.ABSENT, machine).values():
        answers[number] = [_give(_NO_CALL)]
    looked_at = _looked_at(for_model)
    for name, number in syscalls.numbers(syscalls.LOOKED_AT, machine).items():
        answers[number] = looked_at[name]
    return answers


def _looked_at(for_model: bool) -> Dict[str, List[Instruction]]:
    """What is answered to calls that are allowed with some arguments."""
    ourselves = _among(0, (_OWN,), ALLOW, _NOT_PERMITTED)
    zero_or_own = _among(0, (0, _OWN), ALLOW, _NOT_PERMITTED)
    signals = ("kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
    return {
        **dict.fromkeys(signals, ourselves),
        "sched_setaffinity": zero_or_own,
        # As root a process may raise its own limits again: then only a look at them is allowed.
        "prlimit64": _is_null(2) if for_model else zero_or_own,
        "clone": _among(0, (_CLONE_THREAD,), ALLOW, _NOT_PERMITTED, mask=_CLONE_MASK),
        "open": _among(1, (0,), ALLOW, _NO_ACCESS, mask=_OPEN_MASK),
        "openat": _among(2, (0,), ALLOW, _NO_ACCESS, mask=_OPEN_MASK),
        "prctl": _among(0, _PRCTL, _NOT_PERMITTED, ALLOW),
        "ioctl": _among(1, _IOCTL, _NOT_PERMITTED, ALLOW),
        "fcntl": _among(1, _FCNTL, _NOT_PERMITTED, ALLOW),
    }


def _give(verdict: int) -> Instruction:
    return _RETURN, 0, 0, verdict


def _load(argument: int, half: int = 0) -> Instruction:
    """The low half of an argument, which is all that the kernel looks at where it takes an int."""
    return _LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument + 4 * half


def _among(
    argument: int, values: Tuple[int, ...], inside: int, outside: int, mask: int = 0
) -> List[Instruction]:
    """One verdict if an argument, or what a mask leaves of it, is one of these values; else the other."""
    count = len(values)
    tests = [(_IF_EQUAL, count - place, 0, value) for place, value in enumerate(values)]
    masked = [(_AND, 0, 0, mask)] if mask else []
    return [_load(argument), *masked, *tests, _give(outside), _give(inside)]


def _is_null(argument: int) -> List[Instruction]:
    """Allow a call whose pointer is null."""
    first, second = (_IF_EQUAL, 0, 2, 0), (_IF_EQUAL, 1, 0, 0)
    return [_load(argument), first, _load(argument, 1), second, _give(_NOT_PERMITTED), _give(ALLOW)]


def _spans(answers: Dict[int, List[Instruction]]) -> List[Tuple[int, List[Instruction]]]:
    """Where another answer begins, in order: (first number, what to do from there on)."""
    spans: List[Tuple[int, List[Instruction]]] = []
    for number in range(syscalls.FIRST_UNKNOWN):
        answer = answers.get(number, [_give(ALLOW)])
        if not spans or spans[-1][1] != answer:
            spans.append((number, answer))
    return [*spans, (syscalls.FIRST_UNKNOWN, [_give(_NO_CALL)])]


def _tree(spans: List[Tuple[int, List[Instruction]]]) -> List[Instruction]:
    """Find the span of a number by halving."""
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    below, above = _tree(spans[:middle]), _tree(spans[middle:])
    if len(below) > 255:  # a jump has eight bits
        raise ValueError("the filter has too many rules for one jump")
    return [(_IF_AT_LEAST, len(below), 0, spans[middle][0]), *below, *above]
