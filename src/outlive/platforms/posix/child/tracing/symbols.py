"""Which function an address of a library belongs to: `.symtab`, or `.dynsym` where that was stripped off.

    path, address -> Symbol("tflite::ops::builtin::reverse::Eval", offset in it, ...)

A table is built when a library is first asked about (LiteRT: 43,000 entries, some 10 ms) and kept: the next
death costs nothing. An address between two functions of known size has no symbol, rather than a wrong one.
"""

from __future__ import annotations

import heapq
import mmap
import struct
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from typing import NamedTuple

from . import demangle, elf, unwind_table

# elf.h
_ENTRY_BYTES = 24
_STT_FUNC = 2
_STT_FILE = 4
_STT_GNU_IFUNC = 10

_MAX_SYMBOLS = 1 << 22  # eight times TensorFlow's
_MAX_NAME_BYTES = 4096
_MAX_ALIASES = 16
_PART = 4096  # numbers that are sorted at once
_MAX_STEPS = 64  # back over labels that are no functions

_NOTHING = elf.ElfSection(0, 0, 0, 0, 0)
_MAX_LIBRARIES = 48  # kept at once; each holds a file descriptor


class Symbol(NamedTuple):
    """A function: its readable name, how far into it, where it starts, its raw names, its source file.

    Several raw names mean that the linker gave one code to several functions.
    """

    name: str
    offset: int
    start: int
    raw: tuple[str, ...]
    source: str


def _sorted_apart(values: memoryview) -> memoryview:
    """The numbers in order, in pages that malloc knows nothing of: see `ElfFile.read_apart`."""
    if not values:
        return values
    room = memoryview(mmap.mmap(-1, values.nbytes)).cast("Q")
    parts = (sorted(values[start : start + _PART]) for start in range(0, len(values), _PART))
    for place, value in enumerate(heapq.merge(*parts)):
        room[place] = value
    return room


class SymbolTable:
    """The functions of one file.

    Who knows where a function starts (the unwinder does) is answered by a plain search in the column of
    addresses; that is sorted only when somebody does not. It saves some 30 ms at the first death.
    """

    def __init__(self, file: elf.ElfFile) -> None:
        """Read and sort; a file without a usable table has no symbols."""
        self._file = file
        self._table, self._strings = _choose(file.sections())
        count = min(self._table.size // _ENTRY_BYTES, _MAX_SYMBOLS)
        data = file.read_apart(self._table.offset, count * _ENTRY_BYTES)
        words = data[: len(data) - len(data) % _ENTRY_BYTES].cast("Q")
        # Elf64_Sym: name (32 bits), info (8), other (8), section (16); value; size
        self._heads, self._sizes = words[0::3], words[2::3]
        values = words[1::3]  # piece by piece: a copy of all of it would be made on the way
        self._values = b"".join(values[at : at + _PART].tobytes() for at in range(0, len(values), _PART))
        self._sorted: memoryview | None = None

    def find(self, vaddr: int, start: int | None = None) -> Symbol | None:
        """The function that holds the address (and starts at `start`, if that is known)."""
        numbers = [] if start is None else self._functions_at(start)
        if start is None or not numbers:
            start, numbers = self._nearest(vaddr)
        if not any(vaddr - start < size or not size for size in (self._sizes[number] for number in numbers)):
            return None
        raw = tuple(filter(None, map(self._name, numbers)))
        if not raw:
            return None
        return Symbol(demangle.demangle(raw[0]), vaddr - start, start, raw, self._source(numbers[0]))

    def _nearest(self, vaddr: int) -> tuple[int, list[int]]:
        """Start and numbers of the last functions that start at or before the address."""
        if self._sorted is None:
            self._sorted = _sorted_apart(memoryview(self._values).cast("Q"))
        at = bisect_right(self._sorted, vaddr)
        for _ in range(_MAX_STEPS):
            if not at:
                break
            start = self._sorted[at - 1]
            numbers = self._functions_at(start)
            if numbers:
                return start, numbers
            at = bisect_left(self._sorted, start)
        return 0, []

    def _functions_at(self, start: int) -> list[int]:
        """The numbers of the functions that start at this address."""
        needle = struct.pack("<Q", start)
        numbers: list[int] = []
        at = self._values.find(needle)
        while at >= 0 and len(numbers) < _MAX_ALIASES:
            if not at % len(needle) and self._is_function(at // len(needle)):
                numbers.append(at // len(needle))
            at = self._values.find(needle, at + 1)
        return numbers

    def _is_function(self, number: int) -> bool:
        head = self._heads[number]
        return head >> 32 & 15 in (_STT_FUNC, _STT_GNU_IFUNC) and head >> 48 != 0

    def _name(self, number: int) -> str:
        offset = self._heads[number] & 0xFFFFFFFF
        if offset >= self._strings.size:
            return ""
        limit = min(_MAX_NAME_BYTES, self._strings.size - offset)
        text = self._file.read(self._strings.offset + offset, limit)
        return text.split(b"\0", 1)[0].decode("utf-8", "replace")

    def _source(self, number: int) -> str:
        """The source file of a local symbol: the linker puts its name before those of the file's own."""
        if number >= self._table.info:  # sh_info: where the global symbols begin
            return ""
        while number >= 0 and self._heads[number] >> 32 & 15 != _STT_FILE:
            number -= 1
        return self._name(number) if number >= 0 else ""


def _choose(sections: list[elf.ElfSection]) -> tuple[elf.ElfSection, elf.ElfSection]:
    """The fullest table of symbols, and the section with its names."""
    for kind in (elf.SHT_SYMTAB, elf.SHT_DYNSYM):
        for section in sections:
            if section.kind == kind and section.size and section.link < len(sections):
                return section, sections[section.link]
    return _NOTHING, _NOTHING


class Library:
    """A file that is mapped into a process: its functions and how to unwind them, each read when needed."""

    def __init__(self, path: str) -> None:
        """Open the file."""
        self.identity = elf.identity(path)
        self.file = elf.ElfFile(path)
        self._symbols: SymbolTable | None = None
        self._frames: unwind_table.UnwindTable | None = None

    @property
    def symbols(self) -> SymbolTable:
        """The functions."""
        if self._symbols is None:
            self._symbols = SymbolTable(self.file)
        return self._symbols

    @property
    def frames(self) -> unwind_table.UnwindTable:
        """The rules to unwind them."""
        if self._frames is None:
            self._frames = unwind_table.UnwindTable(self.file)
        return self._frames


_libraries: OrderedDict[str, Library] = OrderedDict()


def library(path: str) -> Library:
    """The file by this path, from the last few that were asked for; read anew if it was replaced."""
    found = _libraries.get(path)
    if found is None or found.identity != elf.identity(path):
        _close(path)
        found = _libraries[path] = Library(path)
        if len(_libraries) > _MAX_LIBRARIES:
            _close(next(iter(_libraries)))
    _libraries.move_to_end(path)
    return found


def _close(path: str) -> None:
    dropped = _libraries.pop(path, None)
    if dropped is not None:
        dropped.file.close()


def lookup(path: str, vaddr: int, start: int | None = None) -> Symbol | None:
    """The function of the library that holds the address (as the linker counts, not as a process does)."""
    try:
        return library(path).symbols.find(vaddr, start)
    except (struct.error, ValueError, IndexError, OverflowError, MemoryError):
        return None
