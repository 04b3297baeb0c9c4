"""A shared library on disk, read piece by piece: its segments and sections, never more than asked for.

Nothing here raises on a broken file: what cannot be read is empty. `pread` and not a mapped file, because one
that is cut short under a mapping would kill the process that looks at it.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

# elf.h
PT_LOAD = 1
PT_GNU_EH_FRAME = 0x6474E550
SHT_SYMTAB = 2
SHT_DYNSYM = 11
_MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")

# Far above what linkers write; a garbled header must not make us read for minutes.
_MAX_HEADERS = 4096


class ElfSegment(NamedTuple):
    """Where a piece of the file lies in memory, before the load address is added."""

    kind: int
    offset: int
    vaddr: int
    file_bytes: int


class ElfSection(NamedTuple):
    """A named piece of the file; `link` and `info` mean what its kind says."""

    kind: int
    offset: int
    size: int
    link: int
    info: int


class ElfFile:
    """A 64-bit little-endian ELF file (x86-64, arm64); any other file has no segments and no sections."""

    def __init__(self, path: str) -> None:
        """Open the file and read its headers."""
        self._fd = _open(path)
        self.size = _size(self._fd)
        header = self.read(0, _HEADER.size)
        self._header: tuple[int, ...] | None = None
        if len(header) == _HEADER.size and header.startswith(_MAGIC_64_LITTLE):
            self._header = _HEADER.unpack(header)[1:]
        self.segments = self._read_segments()

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def read(self, offset: int, size: int) -> bytes:
        """At most `size` bytes at `offset`; fewer, or none, where the file has no more."""
        if self._fd < 0 or not 0 <= offset < self.size or size <= 0:
            return b""
        try:
            return os.pread(self._fd, min(size, self.size - offset), offset)
        except OSError:
            return b""

    def read_apart(self, offset: int, size: int) -> memoryview:
        """Like `read`, into pages that malloc knows nothing of.

        A worker is forked with the heap of the process that reads this. To free a large piece of it would
        raise the size from which malloc maps a piece by itself, and what a model takes with it (malloc.c).
        """
        if self._fd < 0 or not 0 <= offset < self.size or size <= 0:
            return memoryview(b"")
        try:
            pages = mmap.mmap(-1, min(size, self.size - offset))
            return memoryview(pages)[: os.preadv(self._fd, [pages], offset)]
        except (OSError, ValueError):
            return memoryview(b"")

    def read_at(self, vaddr: int, size: int) -> bytes:
        """Like `read`, by the address that the linker gave."""
        for segment in self.segments:
            inside = vaddr - segment.vaddr
            if segment.kind == PT_LOAD and 0 <= inside < segment.file_bytes:
                return self.read(segment.offset + inside, min(size, segment.file_bytes - inside))
        return b""

    def vaddr_of(self, offset: int) -> int | None:
        """The linker's address of a byte of the file; None for bytes that are never loaded."""
        for segment in self.segments:
            if segment.kind == PT_LOAD and 0 <= offset - segment.offset < segment.file_bytes:
                return offset - segment.offset + segment.vaddr
        return None

    def sections(self) -> list[ElfSection]:
        """All sections; none if the table was stripped off."""
        if self._header is None:
            return []
        table, entry_size, count = self._header[5], self._header[10], self._header[11]
        if entry_size != _SECTION_HEADER.size or count > _MAX_HEADERS:
            return []
        rows = _rows(_SECTION_HEADER, self.read(table, entry_size * count))
        return [ElfSection(row[1], row[4], row[5], row[6], row[7]) for row in rows]

    def _read_segments(self) -> list[ElfSegment]:
        if self._header is None:
            return []
        table, entry_size, count = self._header[4], self._header[8], self._header[9]
        if entry_size != _PROGRAM_HEADER.size or count > _MAX_HEADERS:
            return []
        rows = _rows(_PROGRAM_HEADER, self.read(table, entry_size * count))
        return [ElfSegment(row[0], row[2], row[3], row[5]) for row in rows]


def identity(path: str) -> tuple[int, ...]:
    """What changes when the file is replaced or written to."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _open(path: str) -> int:
    # Not blocking: the path comes from a list of mappings, and might meanwhile be a pipe.
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return -1


def _size(descriptor: int) -> int:
    try:
        return os.fstat(descriptor).st_size if descriptor >= 0 else 0
    except OSError:
        return 0


def _rows(layout: struct.Struct, data: bytes) -> list[tuple[int, ...]]:
    whole = len(data) - len(data) % layout.size
    return list(layout.iter_unpack(data[:whole]))
