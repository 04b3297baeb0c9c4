"""Which numbers a division that stopped the processor was about: the instruction and the registers tell.

x86-64 raises the same signal for a divisor of zero and for a quotient too large for its register, which is
the smallest integer divided by -1. arm64 raises none.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from . import ptrace, tracee

_LONGEST_INSTRUCTION_BYTES = 15
_OPCODE = 0xF7  # Intel SDM, volume 2: DIV and IDIV of 16, 32 or 64 bits
_DIV, _IDIV = 6, 7  # the middle field of the byte after the opcode
_OPERAND_SIZE_PREFIX = 0x66
# The processor's numbers of its registers, as DWARF numbers (System V ABI for AMD64, figure 3.36).
_DWARF = (0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15)
_RAX, _RDX = 0, 1


class Division(NamedTuple):
    """A division without a result."""

    dividend: int
    divisor: int
    bits: int


def look(process: tracee.Tracee, registers: ptrace.Registers) -> dict[str, Any]:
    """The division at which a thread stands, as evidence; nothing where it is none that we can read."""
    if platform.machine() != "x86_64":
        return {}
    code = process.read(registers.pc, _LONGEST_INSTRUCTION_BYTES)
    found = decode(code, registers.values, registers.pc, process.read)
    return {} if found is None else {"division": found._asdict()}


def decode(
    code: bytes, registers: dict[int, int], pc: int = 0, read: Callable[[int, int], bytes] = lambda *_: b""
) -> Division | None:
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
    return Division(_value(wide, 2 * bits, signed), _value(word, bits, signed), bits)


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
