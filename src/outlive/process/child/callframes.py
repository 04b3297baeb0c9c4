"""How to leave a function: the rows of `.eh_frame` that say where a caller's registers were saved.

    address -> Row(the canonical frame address, where each register lies relative to it)

Found by binary search in `.eh_frame_hdr`, which stripped libraries have too. After DWARF 5, section 6.4, and
the LSB's "Exception Frames". Rules that need the expression language (stubs, signal frames) are not read.
"""

from __future__ import annotations

import struct

from . import elf, frameprogram

# DW_EH_PE_*: LSB, "DWARF Exception Header Encoding"
_PCREL_SDATA4 = 0x1B
_DATAREL_SDATA4 = 0x3B
_UDATA4 = 0x03
_ENCODED_BYTES = {0x00: 8, 0x02: 2, 0x03: 4, 0x04: 8, 0x0A: 2, 0x0B: 4, 0x0C: 8}

_MAX_ENTRY_BYTES = 65536
_PAIR_BYTES = 8


class CallFrames:
    """The unwind table of one library."""

    def __init__(self, file: elf.ElfFile) -> None:
        """Find the table; a library without one has no rows."""
        self._file = file
        self._header, self._table = 0, b""
        self._commons: dict[int, frameprogram.Common | None] = {}
        for segment in file.segments:
            if segment.kind == elf.PT_GNU_EH_FRAME:
                self._read_header(segment)

    def _read_header(self, segment: elf.Segment) -> None:
        head = self._file.read(segment.offset, 12)
        # version, encodings of: pointer to .eh_frame, count, table; all linkers write these
        if len(head) == 12 and head[0] == 1 and head[2] == _UDATA4 and head[3] == _DATAREL_SDATA4:
            count = min(struct.unpack_from("<I", head, 8)[0], segment.file_bytes // _PAIR_BYTES)
            self._header = segment.vaddr
            self._table = self._file.read(segment.offset + 12, count * _PAIR_BYTES)

    def row(self, vaddr: int) -> frameprogram.Row | None:
        """The row for an address; None if there is none, or none we can use."""
        try:
            return self._row(vaddr)
        except (struct.error, IndexError, ValueError, KeyError, OverflowError):
            return None

    def _row(self, vaddr: int) -> frameprogram.Row | None:
        entry = self._search(vaddr)
        if entry is None:
            return None
        body, size_told = self._body(entry)
        common_at = entry + 4 - struct.unpack_from("<i", body, 0)[0]
        common = self._common(common_at)
        if common is None or common.signal_frame:
            return None
        begin = entry + 8 + struct.unpack_from("<i", body, 4)[0]
        size = struct.unpack_from("<I", body, 8)[0]
        if len(body) < size_told or not begin <= vaddr < begin + size:
            return None
        at = 12
        if common.augmented:
            skip, at = frameprogram.unsigned(body, at)
            at += skip
        machine = frameprogram.FrameProgram(common, vaddr - begin)
        machine.run(common.instructions)
        machine.begin_function()
        machine.run(body[at:])
        return machine.row(begin)

    def _search(self, vaddr: int) -> int | None:
        """The address of the entry of the last function that starts at or before the address."""
        low, high = 0, len(self._table) // _PAIR_BYTES
        wanted = vaddr - self._header
        while low < high:
            middle = (low + high) // 2
            if struct.unpack_from("<i", self._table, middle * _PAIR_BYTES)[0] <= wanted:
                low = middle + 1
            else:
                high = middle
        if not low:
            return None
        return self._header + int(struct.unpack_from("<ii", self._table, (low - 1) * _PAIR_BYTES)[1])

    def _body(self, entry: int) -> tuple[bytes, int]:
        """What follows the length of an entry, and how long it should be."""
        head = self._file.read_at(entry, 4)
        size = struct.unpack("<I", head)[0]
        if not 12 <= size <= _MAX_ENTRY_BYTES:  # the escape to 64-bit lengths is never needed in practice
            raise ValueError("not an entry")
        return self._file.read_at(entry + 4, size), size

    def _common(self, entry: int) -> frameprogram.Common | None:
        if entry not in self._commons:
            self._commons[entry] = _read_common(self._body(entry)[0])
        return self._commons[entry]


def _read_common(body: bytes) -> frameprogram.Common | None:
    version = body[4]
    end = body.index(b"\0", 5)
    augmentation = body[5:end].decode("ascii", "replace")
    at = end + 1
    code_factor, at = frameprogram.unsigned(body, at)
    data_factor, at = frameprogram.signed(body, at)
    return_register, at = (body[at], at + 1) if version == 1 else frameprogram.unsigned(body, at)
    encoding = 0
    if augmentation.startswith("z"):
        size, at = frameprogram.unsigned(body, at)
        encoding = _pointer_encoding(augmentation[1:], body, at)
        at += size
    # Other encodings of addresses exist in the standard; compilers of shared libraries write only this one.
    if encoding != _PCREL_SDATA4:
        return None
    return frameprogram.Common(
        code_factor,
        data_factor,
        return_register,
        encoding,
        augmentation.startswith("z"),
        "S" in augmentation,
        body[at:],
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
