"""The native call stack of a stopped thread, from the function that failed outward.

    registers ── row of .eh_frame ──> caller's registers ── ... ──> the thread's first function

Where a function has no row (hand-written assembly, a jump into nowhere), the stack is searched for a return
address from which the walk goes on; frames beyond such a gap are marked as not exact.
"""

from __future__ import annotations

from typing import NamedTuple

from . import ptrace, symbols, tracee, unwind_table

MAX_FRAMES = 64
_SEARCH_WORDS = 2048  # 16 KiB of stack
_PROOF_FRAMES = 3  # how far the walk must go on for a found return address to be believed
_MAX_GAPS = 3

# arm64 may sign return addresses in the bits above the address: asm/pointer_auth.h
_ADDRESS_MASK = (1 << 48) - 1
ARM_LINK_REGISTER = 30  # DWARF for the Arm 64-bit Architecture, section 4.1
_X86_CALL_BYTES = 7  # the longest call instruction that is looked for
_ARM_INSTRUCTION_BYTES = 4


class NativeFrame(NamedTuple):
    """One function on the stack.

    `vaddr` is the address inside the function as its library counts, `start` where the function begins by
    the same count, `entry` where it begins in the process. `stack` and `frame_end` enclose what it has on
    the stack; `registers` are its own.
    """

    path: str
    vaddr: int
    start: int | None
    entry: int | None
    stack: int
    frame_end: int
    registers: dict[int, int]
    exact: bool


_NO_SYMBOL = symbols.Symbol("", 0, 0, (), "")


class NamedFrame(NamedTuple):
    """A frame and the function it belongs to; a function without a name has an empty one."""

    frame: NativeFrame
    symbol: symbols.Symbol


class Walker:
    """Walks the stack of one thread."""

    def __init__(self, process: tracee.Tracee, start: ptrace.Registers) -> None:
        """Begin where the thread stands."""
        self._process = process
        self._start = start
        self._stack_register = start.stack_register

    def walk(self) -> list[NativeFrame]:
        """The frames, innermost first; at most MAX_FRAMES."""
        frames: list[NativeFrame] = []
        pc, registers, exact, gaps = self._start.pc, dict(self._start.values), True, 0
        while len(frames) < MAX_FRAMES:
            found = self._run(pc, registers, not frames, exact, MAX_FRAMES - len(frames))
            frames += found.frames
            if found.ended or gaps == _MAX_GAPS or len(frames) >= MAX_FRAMES:
                break
            resumed = self._search(found.pc, found.registers, not frames or found.at_start)
            if resumed is None:
                break
            # A function that we cannot leave by its rules, but may be able to name.
            path, vaddr, _ = self._place(found.pc if found.at_start else found.pc - 1)
            stack = found.registers[self._stack_register]
            frames.append(NativeFrame(path, vaddr, None, None, stack, stack, found.registers, exact))
            pc, registers, exact, gaps = resumed.pc, resumed.registers, False, gaps + 1
        return frames

    def _run(self, pc: int, registers: dict[int, int], at_start: bool, exact: bool, limit: int) -> _Walk:
        """Walk by the rules as far as they lead."""
        frames: list[NativeFrame] = []
        while len(frames) < limit:
            path, vaddr, bias = self._place(pc if at_start else pc - 1)
            row = symbols.library(path).frames.row(vaddr) if path else None
            if row is None:
                return _Walk(frames, False, pc, registers, at_start)
            stack = registers[self._stack_register]
            frame_end = registers.get(row.base, 0) + row.offset
            begin = row.function
            frames.append(NativeFrame(path, vaddr, begin, begin + bias, stack, frame_end, registers, exact))
            caller = self._caller(row, frame_end, registers)
            if caller is None or not self._goes_up(frame_end, stack, at_start):
                return _Walk(frames, True, 0, {}, False)
            pc, registers, at_start = caller.pc, caller.registers, False
        return _Walk(frames, True, 0, {}, False)

    def _goes_up(self, frame_end: int, stack: int, at_start: bool) -> bool:
        """Stacks grow down: a caller's frame lies above; only a leaf on arm64 has none of its own."""
        return frame_end > stack or (at_start and frame_end == stack)

    def _place(self, address: int) -> _CodePlace:
        """The library that holds the address, the address as that library counts, and the difference."""
        mapping = self._process.mapping(address)
        if mapping is None or not mapping.executable or not mapping.path:
            return _CodePlace("", 0, 0)
        vaddr = symbols.library(mapping.path).file.vaddr_of(address - mapping.start + mapping.offset)
        if vaddr is None:
            return _CodePlace("", 0, 0)
        return _CodePlace(mapping.path, vaddr, address - vaddr)

    def _caller(
        self, row: unwind_table.UnwindRow, frame_end: int, registers: dict[int, int]
    ) -> _CallerRegisters | None:
        """The registers as the caller had them; None at the end of the stack."""
        if row.return_register in row.lost:
            return None
        values = {number: value for number, value in registers.items() if number not in row.lost}
        for number, distance in row.saved.items():
            word = self._process.word(frame_end + distance)
            if word is None:
                return None
            values[number] = word
        # On x86-64 the return address is a column of its own, 16; on arm64 it is a register that stays.
        pc = values.get(row.return_register, 0)
        if self._start.link_register is None:
            values.pop(row.return_register, None)
        values[self._stack_register] = frame_end
        pc &= _ADDRESS_MASK
        return _CallerRegisters(pc, values) if self._process.is_code(pc) else None

    def _search(self, pc: int, registers: dict[int, int], at_start: bool) -> _CallerRegisters | None:
        """The nearest return address above the stack pointer from which the rules lead on."""
        stack = registers.get(self._stack_register, 0)
        link = self._start.link_register
        if link is not None and at_start:
            leaf = _CallerRegisters(registers.get(link, 0) & _ADDRESS_MASK, registers)
            if self._leads_on(leaf):
                return leaf
        for number, content in enumerate(self._process.words(stack, _SEARCH_WORDS)):
            word = content & _ADDRESS_MASK
            if not self._process.is_code(word):
                continue
            values = dict(registers)
            values[self._stack_register] = stack + (number + 1) * tracee.WORD_BYTES
            candidate = _CallerRegisters(word, values)
            if self._leads_on(candidate):
                return candidate
        return None

    def _leads_on(self, candidate: _CallerRegisters) -> bool:
        """Whether it follows a call, and so do the callers that the rules then find."""
        if not self._follows_call(candidate.pc):
            return False
        run = self._run(candidate.pc, candidate.registers, False, False, _PROOF_FRAMES)
        callers = [frame.vaddr for frame in run.frames]
        return len(callers) == _PROOF_FRAMES

    def _follows_call(self, address: int) -> bool:
        if self._start.link_register is not None:
            before = self._process.read(address - _ARM_INSTRUCTION_BYTES, _ARM_INSTRUCTION_BYTES)
            return _is_arm_call(int.from_bytes(before, "little"))
        return _ends_in_x86_call(self._process.read(address - _X86_CALL_BYTES, _X86_CALL_BYTES))


class _Walk(NamedTuple):
    """What walking by the rules gave: the frames, whether that is all, and where it got stuck."""

    frames: list[NativeFrame]
    ended: bool
    pc: int
    registers: dict[int, int]
    at_start: bool


class _CodePlace(NamedTuple):
    path: str
    vaddr: int
    bias: int


class _CallerRegisters(NamedTuple):
    pc: int
    registers: dict[int, int]


def call_target(process: tracee.Tracee, frame: NativeFrame) -> int | None:
    """Where the call in a frame goes: 0 where a register or memory says; None if it is no call."""
    if frame.start is None or frame.entry is None:
        return None
    after = frame.vaddr + 1 + frame.entry - frame.start
    code = process.read(after - _X86_CALL_BYTES, _X86_CALL_BYTES)
    if ARM_LINK_REGISTER in frame.registers:
        return _arm_target(int.from_bytes(code[-_ARM_INSTRUCTION_BYTES:], "little"), after)
    if not _ends_in_x86_call(code):
        return None
    if code[-5] == 0xE8:
        return after + int.from_bytes(code[-4:], "little", signed=True)
    return 0


def _arm_target(instruction: int, after: int) -> int | None:
    if not _is_arm_call(instruction):
        return None
    if instruction & 0xFC000000 != 0x94000000:
        return 0
    words = instruction & 0x3FFFFFF
    distance = (words - (1 << 26) if words >> 25 else words) * _ARM_INSTRUCTION_BYTES
    return after - _ARM_INSTRUCTION_BYTES + distance


def _ends_in_x86_call(code: bytes) -> bool:
    """Whether the bytes end in a call: E8 with a distance, or FF /2 with 0 to 5 bytes of operand."""
    if len(code) < _X86_CALL_BYTES:
        return False
    if code[-5] == 0xE8:
        return True
    return any(code[-size] == 0xFF and code[1 - size] >> 3 & 7 == 2 for size in range(2, _X86_CALL_BYTES + 1))


def _is_arm_call(instruction: int) -> bool:
    """BL, BLR, and BLR with pointer authentication: Arm Architecture Reference Manual, C4.1."""
    return (
        instruction & 0xFC000000 == 0x94000000
        or instruction & 0xFFFFFC1F == 0xD63F0000
        or instruction & 0xFEFFF800 == 0xD63F0800
    )


def name_frames(frames: list[NativeFrame]) -> list[NamedFrame]:
    """The frames with their functions."""
    return [NamedFrame(frame, _symbol(frame)) for frame in frames]


def _symbol(frame: NativeFrame) -> symbols.Symbol:
    found = symbols.lookup(frame.path, frame.vaddr, frame.start) if frame.path else None
    return found or _NO_SYMBOL
