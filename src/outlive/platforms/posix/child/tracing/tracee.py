"""A stopped process, looked at from outside: its mappings, its memory, its sizes.

Reading `/proc/PID/mem` needs no more rights than being its tracer. Nothing raises when the process vanishes
in the middle: what cannot be read is empty.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import NamedTuple

from ..own_process import read_fields

_PAGE_BYTES = 4096
_MAX_PAGES = 2048  # what one look at a process may copy: 8 MiB
_MAX_ADDRESS = 1 << 63
WORD_BYTES = 8
# A model carries this identifier at its fifth byte; a process seldom has more than one of them mapped.
_IDENTIFIER_AT, _IDENTIFIER = 4, b"TFL3"
_MAX_MODELS, _MAX_PATH = 4, 1000

_MEMORY_FIELDS = {
    "VmData": "data_bytes",
    "VmRSS": "rss_bytes",
    "RssAnon": "private_bytes",  # of the kind that `own_process.memory` counts
    "VmHWM": "peak_rss_bytes",
}


class MemoryMapping(NamedTuple):
    """One line of `/proc/PID/maps`; `path` is empty where no file lies behind it."""

    start: int
    end: int
    executable: bool
    offset: int
    path: str


class Tracee:
    """One look at one stopped thread: mappings read once, memory page by page."""

    def __init__(self, thread: int) -> None:
        """Read the mappings and open the memory."""
        self._mappings = read_mappings(thread)
        self._starts = [mapping.start for mapping in self._mappings]
        self._pages: dict[int, bytes] = {}
        try:
            self._fd = os.open("/proc/%d/mem" % thread, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def mapping(self, address: int) -> MemoryMapping | None:
        """The mapping that holds the address."""
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address >= self._mappings[at].end:
            return None
        return self._mappings[at]

    def model_files(self) -> list[str]:
        """The files of models that are mapped from their start: LiteRT maps the file it is given."""
        found: dict[str, None] = {}
        for mapping in self._mappings:
            if not mapping.path or mapping.offset or mapping.executable or len(mapping.path) > _MAX_PATH:
                continue
            if self.read(mapping.start + _IDENTIFIER_AT, len(_IDENTIFIER)) == _IDENTIFIER:
                found[mapping.path] = None
        return list(found)[:_MAX_MODELS]

    def is_code(self, address: int) -> bool:
        """Whether the address lies in an executable mapping."""
        mapping = self.mapping(address)
        return mapping is not None and mapping.executable

    def read(self, address: int, size: int) -> bytes:
        """The bytes there, as far as they are mapped."""
        parts = []
        while size > 0 and 0 <= address < _MAX_ADDRESS:
            inside = address % _PAGE_BYTES
            part = self._page(address - inside)[inside : inside + size]
            if not part:
                break
            parts.append(part)
            address += len(part)
            size -= len(part)
        return b"".join(parts)

    def words(self, address: int, count: int) -> list[int]:
        """Up to `count` 64-bit words from there on."""
        data = self.read(address, count * WORD_BYTES)
        whole = len(data) - len(data) % WORD_BYTES
        return memoryview(data[:whole]).cast("Q").tolist()

    def word(self, address: int) -> int | None:
        """The 64-bit word there."""
        found = self.words(address, 1)
        return found[0] if found else None

    def text(self, address: int, limit: int = 128) -> str:
        """The C string there, cut at `limit` bytes; empty if it is no text."""
        data = self.read(address, limit).split(b"\0", 1)[0]
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        return text if text.isprintable() else ""

    def _page(self, start: int) -> bytes:
        page = self._pages.get(start)
        if page is None:
            page = self._pages[start] = self._fetch(start)
        return page

    def _fetch(self, start: int) -> bytes:
        if self._fd < 0 or len(self._pages) >= _MAX_PAGES:
            return b""
        try:
            return os.pread(self._fd, _PAGE_BYTES, start)
        except (OSError, OverflowError):
            return b""


def read_mappings(process: int) -> list[MemoryMapping]:
    """All mappings of a process, in order."""
    try:
        with open("/proc/%d/maps" % process, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return [mapping for mapping in map(_mapping, lines) if mapping is not None]


def _mapping(line: bytes) -> MemoryMapping | None:
    # 7f0000000000-7f0000001000 r-xp 00002000 08:01 1234    /usr/lib/libc.so.6
    fields = line.split(None, 5)
    if len(fields) < 5:
        return None
    start, _, end = fields[0].partition(b"-")
    path = os.fsdecode(fields[5]) if len(fields) > 5 else ""
    # A library that was replaced on disk: reading the new file would give wrong names.
    if not path.startswith("/") or path.endswith(" (deleted)"):
        path = ""
    try:
        return MemoryMapping(int(start, 16), int(end, 16), b"x" in fields[1], int(fields[2], 16), path)
    except ValueError:
        return None


def read_status(task: int) -> dict[str, str]:
    """`/proc/TASK/status`, as it is written; empty when the task is gone."""
    return read_fields("/proc/%d/status" % task)


def memory_sizes(status: dict[str, str]) -> dict[str, int]:
    """The sizes in a status that tell of memory, in bytes; none once the memory is given back."""
    sizes = {}
    for field, name in _MEMORY_FIELDS.items():
        number = status.get(field, "").split(" ")[0]  # proc(5): always in kB
        if number.isdigit():
            sizes[name] = int(number) * 1024
    return sizes
