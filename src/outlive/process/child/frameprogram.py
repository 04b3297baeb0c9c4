"""The little programs of `.eh_frame`: run up to an address, they say where the registers are saved there.

After DWARF 5, section 6.4.2. Rules that need the expression language are noted as lost.
"""

from __future__ import annotations

from typing import NamedTuple

_MAX_INSTRUCTIONS = 4096


class Row(NamedTuple):
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


class Common(NamedTuple):
    """A CIE: what the functions of one object file share."""

    code_factor: int
    data_factor: int
    return_register: int
    encoding: int
    augmented: bool
    signal_frame: bool
    instructions: bytes


class FrameProgram:
    """Runs call frame instructions up to one address. Numbers of instructions: DWARF 5, table 7.29."""

    def __init__(self, common: Common, wanted: int) -> None:
        """For the address `wanted` bytes into the function."""
        self._common, self._wanted = common, wanted
        self._location = 0
        self._base, self._offset = -1, 0
        self._saved: dict[int, int] = {}
        self._initial: dict[int, int] = {}
        self._lost: list[int] = []
        self._stack: list[tuple[int, int, dict[int, int], list[int]]] = []
        self._steps = 0

    def begin_function(self) -> None:
        """What was run so far is the state that "restore" goes back to."""
        self._initial = dict(self._saved)

    def row(self, function: int) -> Row | None:
        """The state reached; None if the frame address is not a register plus a number."""
        if self._base < 0:
            return None
        return_register = self._common.return_register
        return Row(self._base, self._offset, self._saved, tuple(self._lost), return_register, function)

    def run(self, code: bytes) -> None:
        """Run until the end, or until the instructions are past the wanted address."""
        at = 0
        while at < len(code) and self._location <= self._wanted:
            self._steps += 1
            if self._steps > _MAX_INSTRUCTIONS:
                raise ValueError("endless instructions")
            at = self._step(code, at)

    def _step(self, code: bytes, at: int) -> int:
        instruction, low = code[at] & 0xC0, code[at] & 0x3F
        at += 1
        if instruction == 0x40:  # advance_loc
            self._advance(low)
        elif instruction == 0x80:  # offset
            distance, at = unsigned(code, at)
            self._save(low, distance)
        elif instruction == 0xC0:  # restore
            self._restore(low)
        elif low <= 0x05:
            at = self._step_location(low, code, at)
        elif low in (0x06, 0x07, 0x08, 0x09):
            at = self._step_register(low, code, at)
        else:
            at = self._step_frame(low, code, at)
        return at

    def _step_location(self, low: int, code: bytes, at: int) -> int:
        if low == 0x00:  # nop
            return at
        if low == 0x05:  # offset_extended
            register, at = unsigned(code, at)
            distance, at = unsigned(code, at)
            self._save(register, distance)
            return at
        if low == 0x01:  # set_loc
            raise ValueError("absolute location")
        size = {0x02: 1, 0x03: 2, 0x04: 4}[low]  # advance_loc1, 2, 4
        self._advance(int.from_bytes(code[at : at + size], "little"))
        return at + size

    def _step_register(self, low: int, code: bytes, at: int) -> int:
        register, at = unsigned(code, at)
        if low == 0x06:  # restore_extended
            self._restore(register)
        elif low == 0x07:  # undefined
            self._saved.pop(register, None)
            self._lost.append(register)
        elif low == 0x08:  # same_value
            self._saved.pop(register, None)
        else:  # register: kept in another one, which compilers do not do
            _, at = unsigned(code, at)
            self._lost.append(register)
        return at

    def _step_frame(self, low: int, code: bytes, at: int) -> int:
        if low == 0x0A:  # remember_state
            self._stack.append((self._base, self._offset, dict(self._saved), list(self._lost)))
        elif low == 0x0B:  # restore_state
            self._base, self._offset, self._saved, self._lost = self._stack.pop()
        elif low == 0x0C:  # def_cfa
            self._base, at = unsigned(code, at)
            self._offset, at = unsigned(code, at)
        elif low == 0x0D:  # def_cfa_register
            self._base, at = unsigned(code, at)
        elif low == 0x0E:  # def_cfa_offset
            self._offset, at = unsigned(code, at)
        elif low == 0x2E:  # GNU_args_size
            _, at = unsigned(code, at)
        elif low != 0x2D:  # AARCH64_negate_ra_state: the return address is signed, which we strip anyway
            at = self._step_rare(low, code, at)
        return at

    def _step_rare(self, low: int, code: bytes, at: int) -> int:
        if low == 0x0F:  # def_cfa_expression
            size, at = unsigned(code, at)
            self._base = -1
            return at + size
        if low in (0x10, 0x16):  # expression, val_expression
            register, at = unsigned(code, at)
            size, at = unsigned(code, at)
            self._lost.append(register)
            return at + size
        if low == 0x11:  # offset_extended_sf
            register, at = unsigned(code, at)
            distance, at = signed(code, at)
            self._save(register, distance)
            return at
        if low in (0x12, 0x13):  # def_cfa_sf, def_cfa_offset_sf
            if low == 0x12:
                self._base, at = unsigned(code, at)
            distance, at = signed(code, at)
            self._offset = distance * self._common.data_factor
            return at
        raise ValueError("unknown instruction")

    def _advance(self, delta: int) -> None:
        self._location += delta * self._common.code_factor

    def _save(self, register: int, distance: int) -> None:
        self._saved[register] = distance * self._common.data_factor

    def _restore(self, register: int) -> None:
        self._saved.pop(register, None)
        if register in self._initial:
            self._saved[register] = self._initial[register]


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
