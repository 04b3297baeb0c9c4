"""How to leave a function: the rows of `.eh_frame` that say where a caller's registers were saved.

    address -> UnwindRow(the canonical frame address, where each register lies relative to it)

Found by binary search in `.eh_frame_hdr`, which stripped libraries have too. After DWARF 5, section 6.4, and
the LSB's "Exception Frames". Rules that need the expression language (stubs, signal frames) are not read.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from . import elf

# DW_EH_PE_*: LSB, "DWARF Exception Header Encoding"
_PCREL_SDATA4 = 0x1B
_DATAREL_SDATA4 = 0x3B
_UDATA4 = 0x03
_ENCODED_BYTES = {0x00: 8, 0x02: 2, 0x03: 4, 0x04: 8, 0x0A: 2, 0x0B: 4, 0x0C: 8}

_MAX_ENTRY_BYTES = 65536
_PAIR_BYTES = 8
_MAX_INSTRUCTIONS = 4096


class UnwindTable:
    """The unwind table of one library."""

    def __init__(self, file: elf.ElfFile) -> None:
        """Find the table; a library without one has no rows."""
        self._file = file
        self._header = 0
        self._table = memoryview(b"").cast("i")  # start of a function, its entry; both from the header on
        self._commons: dict[int, CommonEntry | None] = {}
        for segment in file.segments:
            if segment.kind == elf.PT_GNU_EH_FRAME:
                head = self._file.read(segment.offset, 12)
                # version, encodings of: pointer to .eh_frame, count, table; all linkers write these
                if len(head) == 12 and head[0] == 1 and head[2] == _UDATA4 and head[3] == _DATAREL_SDATA4:
                    count = min(struct.unpack_from("<I", head, 8)[0], segment.file_bytes // _PAIR_BYTES)
                    self._header = segment.vaddr
                    pairs = self._file.read(segment.offset + 12, count * _PAIR_BYTES)
                    self._table = memoryview(pairs[: len(pairs) // _PAIR_BYTES * _PAIR_BYTES]).cast("i")

    def row(self, vaddr: int) -> UnwindRow | None:
        """The row for an address; None if there is none, or none we can use."""
        try:
            return self._row(vaddr)
        except (struct.error, IndexError, ValueError, KeyError, OverflowError):
            return None

    def _row(self, vaddr: int) -> UnwindRow | None:
        entry = self._search(vaddr)
        if entry is None:
            return None
        body, announced = self._body(entry)
        common_at = entry + 4 - struct.unpack_from("<i", body, 0)[0]
        common = self._common(common_at)
        if common is None or common.signal_frame:
            return None
        begin = entry + 8 + struct.unpack_from("<i", body, 4)[0]
        size = struct.unpack_from("<I", body, 8)[0]
        if len(body) < announced or not begin <= vaddr < begin + size:
            return None
        at = 12
        if common.augmented:
            skip, at = unsigned(body, at)
            at += skip
        machine = _FrameProgram(common, vaddr - begin)
        machine.run(common.instructions)
        machine.begin_function()
        machine.run(body[at:])
        return machine.row(begin)

    def _search(self, vaddr: int) -> int | None:
        """The address of the entry of the last function that starts at or before the address."""
        count = bisect_right(self._table[0::2], vaddr - self._header)
        return self._header + self._table[2 * count - 1] if count else None

    def _body(self, entry: int) -> tuple[bytes, int]:
        """What follows the length of an entry, and how long it should be."""
        head = self._file.read_at(entry, 4)
        size = struct.unpack("<I", head)[0]
        if not 12 <= size <= _MAX_ENTRY_BYTES:  # the escape to 64-bit lengths is never needed in practice
            raise ValueError("not an entry")
        return self._file.read_at(entry + 4, size), size

    def _common(self, entry: int) -> CommonEntry | None:
        if entry not in self._commons:
            self._commons[entry] = _read_common(self._body(entry)[0])
        return self._commons[entry]


def _read_common(body: bytes) -> CommonEntry | None:
    version = body[4]
    end = body.index(b"\0", 5)
    augmentation = body[5:end].decode("ascii", "replace")
    at = end + 1
    code_factor, at = unsigned(body, at)
    data_factor, at = signed(body, at)
    return_register, at = (body[at], at + 1) if version == 1 else unsigned(body, at)
    encoding = 0
    if augmentation.startswith("z"):
        size, at = unsigned(body, at)
        encoding = _pointer_encoding(augmentation[1:], body, at)
        at += size
    # Other encodings of addresses exist in the standard; compilers of shared libraries write only this one.
    if encoding != _PCREL_SDATA4:
        return None
    return CommonEntry(
        code_factor, data_factor, return_register, augmentation[:1] == "z", "S" in augmentation, body[at:]
    )


def _pointer_encoding(augmentation: str, body: bytes, at: int) -> int:
    for letter in augmentation:
        if letter == "R":
            return body[at]
        if letter == "P":
            at += 1 + _ENCODED_BYTES[body[at] & 15]
        elif letter == "L":
            at += 1
    return 0


class UnwindRow(NamedTuple):
    """How to find the caller's frame from inside a function at one address.

    The canonical frame address is register `base` plus `offset`; `saved` has the distance from there to each
    saved register; `return_register` holds or is saved as the return address.
    """

    base: int
    offset: int
    saved: dict[int, int]
    lost: tuple[int, ...]
    return_register: int
    function: int


class CommonEntry(NamedTuple):
    """A CIE: what the functions of one object file share."""

    code_factor: int
    data_factor: int
    return_register: int
    augmented: bool
    signal_frame: bool
    instructions: bytes


class _FrameProgram:
    """Runs call frame instructions up to one address: DWARF 5, section 6.4.2.

    A register whose rule needs the expression language is lost.
    """

    def __init__(self, common: CommonEntry, wanted: int) -> None:
        self._common, self._wanted = common, wanted
        self._location = self._steps = 0
        self._base, self._offset = -1, 0
        self._saved: dict[int, int] = {}
        self._initial: dict[int, int] = {}
        self._lost: list[int] = []
        self._stack: list[tuple[int, int, dict[int, int], list[int]]] = []

    def begin_function(self) -> None:
        """The state so far is what "restore" goes back to."""
        self._initial = dict(self._saved)

    def row(self, function: int) -> UnwindRow | None:
        """The state reached; None if the frame address is not a register plus a number."""
        if self._base < 0:
            return None
        return_register = self._common.return_register
        return UnwindRow(self._base, self._offset, self._saved, tuple(self._lost), return_register, function)

    def run(self, code: bytes) -> None:
        """Run until the end, or until the instructions are past the wanted address."""
        at = 0
        while at < len(code) and self._location <= self._wanted:
            self._steps += 1
            if self._steps > _MAX_INSTRUCTIONS:
                raise ValueError("endless instructions")
            high, low = code[at] & 0xC0, code[at] & 0x3F
            action, kinds = _SHORT[high] if high else _LONG[low]
            operands = [low] if high else []
            at += 1
            for kind in kinds:
                operand, at = _OPERANDS[kind](code, at)
                operands.append(operand)
            getattr(self, action)(*operands)

    def _nothing(self, *_: int) -> None:
        pass

    def _advance(self, delta: int) -> None:
        self._location += delta * self._common.code_factor

    def _save(self, register: int, distance: int) -> None:
        self._saved[register] = distance * self._common.data_factor

    def _restore(self, register: int) -> None:
        self._saved.pop(register, None)
        if register in self._initial:
            self._saved[register] = self._initial[register]

    def _undefine(self, register: int) -> None:
        self._saved.pop(register, None)
        self._lost.append(register)

    def _keep(self, register: int) -> None:
        self._saved.pop(register, None)

    def _lose(self, register: int, _: int) -> None:
        self._lost.append(register)

    def _remember(self) -> None:
        self._stack.append((self._base, self._offset, dict(self._saved), list(self._lost)))

    def _recall(self) -> None:
        self._base, self._offset, self._saved, self._lost = self._stack.pop()

    def _set_frame(self, base: int, offset: int) -> None:
        self._base, self._offset = base, offset

    def _set_base(self, base: int) -> None:
        self._base = base

    def _set_offset(self, offset: int) -> None:
        self._offset = offset

    def _set_frame_factored(self, base: int, offset: int) -> None:
        self._base, self._offset = base, offset * self._common.data_factor

    def _set_offset_factored(self, offset: int) -> None:
        self._offset = offset * self._common.data_factor

    def _compute_frame(self, _: int) -> None:
        self._base = -1


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
        if shift > 63:
            raise ValueError("number too long")


def signed(data: bytes, at: int) -> tuple[int, int]:
    """A signed number in LEB128, and where it ends."""
    start = at
    value, at = unsigned(data, at)
    bits = 7 * (at - start)
    return (value - (1 << bits) if value >> (bits - 1) & 1 else value), at


def _fixed(size: int) -> Callable[[bytes, int], tuple[int, int]]:
    return lambda data, at: (int.from_bytes(data[at : at + size], "little"), at + size)


def _block(data: bytes, at: int) -> tuple[int, int]:
    """An expression, which is stepped over."""
    size, at = unsigned(data, at)
    return 0, at + size


_OPERANDS = {"u": unsigned, "s": signed, "1": _fixed(1), "2": _fixed(2), "4": _fixed(4), "b": _block}
# What an instruction does and its operands: DWARF 5, table 7.29. A short one has its first operand in itself.
_SHORT = {0x40: ("_advance", ""), 0x80: ("_save", "u"), 0xC0: ("_restore", "")}
_LONG = {
    0x00: ("_nothing", ""),
    0x02: ("_advance", "1"),
    0x03: ("_advance", "2"),
    0x04: ("_advance", "4"),
    0x05: ("_save", "uu"),  # offset_extended
    0x06: ("_restore", "u"),
    0x07: ("_undefine", "u"),
    0x08: ("_keep", "u"),  # same_value
    0x09: ("_lose", "uu"),  # register: kept in another one, which compilers do not do
    0x0A: ("_remember", ""),
    0x0B: ("_recall", ""),
    0x0C: ("_set_frame", "uu"),  # def_cfa
    0x0D: ("_set_base", "u"),
    0x0E: ("_set_offset", "u"),
    0x0F: ("_compute_frame", "b"),  # def_cfa_expression
    0x10: ("_lose", "ub"),  # expression
    0x11: ("_save", "us"),  # offset_extended_sf
    0x12: ("_set_frame_factored", "us"),  # def_cfa_sf
    0x13: ("_set_offset_factored", "s"),
    0x16: ("_lose", "ub"),  # val_expression
    0x2D: ("_nothing", ""),  # AARCH64_negate_ra_state: the return address is signed, which we strip anyway
    0x2E: ("_nothing", "u"),  # GNU_args_size
}
