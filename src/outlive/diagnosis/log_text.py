"""Reads a log: decodes it, takes prefixes and colours off, and never holds more than a bounded part of it.

bytes or a stream ──► start, telling lines of the middle, end ──► decoded ──► LogText
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from outlive.process.operating_system import demangle

# What is read of a log in full: its start, and its end, which tells most.
_HEAD_BYTES, _TAIL_BYTES = 4 << 20, 12 << 20
# Of what lies between, lines around these words are read, the last first, and no more than so much.
_MOST_SEARCHED_BYTES, _CHUNK_BYTES, _MOST_MIDDLE_BYTES = 2 << 30, 4 << 20, 2 << 20
_WORDS = (
    "ault", "bort", "illed", "SIG", "Traceback", "rror:", "Exception", "ATAL", "atal", "anic", "bad_alloc",
    "llegal", "us error", "us Error", "exit code", "status=", "0xc0000", "0xC0000", "ut of memory", "OOM",
)  # fmt: skip
_TELLING_TEXT = re.compile("|".join(map(re.escape, _WORDS)))
_AROUND_BYTES = 4000
# Standard input may never end: after so long, or so long without a line, the answer is on what came.
_STREAM_S, _IDLE_S = 60.0, 8.0
_MOST_STREAM_BYTES = 512 << 20
_MOST_LINES, _FIRST_LINES, _LAST_LINES, _AROUND_LINES = 40_000, 2000, 10_000, 20
_MOST_CHARACTERS = 4000
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_ANSI = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")

# A mangled name of C++ in a stack; a linker's word about a symbol needs the name as it is.
_MANGLED, _OF_LINKER = re.compile(r"\b_Z\w{3,}"), "symbol"

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_STAMP = rf"\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T _]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?"
_LEVELS = {"VERBOSE": "V", "DEBUG": "D", "INFO": "I", "WARN": "W", "WARNING": "W", "ERROR": "E", "FATAL": "F"}
# Tried again and again from the start of the line until none fits; `level` and `tag` are kept.
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"^\s*(?:[\w.-]+[-_]\d+|[\w-]+)\s+\|\s",  # docker compose
        r"^\[pod/[^\]]+\]\s+",  # kubectl logs --prefix
        rf"^{_STAMP} (?:stdout|stderr) [FP] ",  # CRI
        # logcat of Android Studio, old and new, then threadtime and brief
        rf"^(?:{_STAMP}|\d\d-\d\d {_CLOCK})\s+\d+-\d+/\S+\s+(?P<level>[VDIWEFA])/(?P<tag>[^:]{{1,60}}):\s?",
        rf"^(?:{_STAMP}|\d\d-\d\d {_CLOCK})\s+\d+-\d+\s+(?P<tag>\S+)\s+\S+\s+(?P<level>[VDIWEFA])\s\s?",
        rf"^(?:\d{{4}}-)?\d\d-\d\d {_CLOCK}\s+(?:\S+\s+)?\d+\s+\d+\s+(?P<level>[VDIWEFA])\s+"
        r"(?P<tag>[^:]{1,60}?)\s*:\s?",
        rf"^\d\d-\d\d {_CLOCK}:?\s+(?=[VDIWEFA]/)",  # logcat -v time, whose level and tag follow
        r"^(?P<level>[VDIWEFA])/(?P<tag>[^(:]{1,60})(?:\(\s*\d+\))?:\s?",
        rf"^\[(?P<level>[DIWEC]) {_STAMP} (?P<tag>\w+)\]\s",  # Jupyter's server
        rf"^\[(?P<level>[DIWEC]) {_CLOCK} (?P<tag>\w+)\]\s",
        rf"^{_STAMP}: (?P<level>[IWEF]) (?=\S+\.(?:cc|cpp|h):\d+\])",  # TensorFlow, absl
        r"^(?P<level>[IWEF])(?:\d{4})?\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ (?=\S+:\d+\])",  # glog
        r"^(?P<level>[VDIWE]) \(\d+\) (?P<tag>[\w.-]+): ",  # ESP-IDF
        rf"^{_STAMP}\s+(?P<tag>[\w.() -]{{1,40}})\[\d+(?::\d+)?\]:?\s",  # NSLog, syslog with ISO dates
        rf"^[A-Z][a-z]{{2}} +\d+ {_CLOCK} \S+ (?P<tag>[^\s:\[]+)(?:\[\d+\])?: ",  # syslog, journald
        r"^kernel: (?=\[)",
        r"^\[\s*\d+\.\d{3,}\]\s(?:\[\s*T\d+\]\s)?",  # dmesg
        rf"^\[(?:[A-Z][a-z]{{2}} ){{2}} ?\d+ {_CLOCK} \d{{4}}\]\s",  # dmesg -T
        rf"^\[?{_STAMP}\]?[\s:,|-]*",
        rf"^\[?{_CLOCK}\]?\s*(?:->|---|\||-|:)?\s*",  # serial monitors, tees
        r"^\[\d\d-\d\d-\d\d\.\d+\]\s*",
        r"^E\s{3,}(?=\S)",  # pytest
        r"^(?P<level>VERBOSE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\s*:\s?(?:tensorflow:|root:|absl:)?",
        r"^\[(?P<level>VERBOSE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]\s*",
        r"^>\s(?!>)",  # quoted in a mail
    )
)
_MOST_PREFIXES = 5


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line without its prefixes: its number in the file, its level and who printed it."""

    number: int
    text: str
    level: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogText:
    """The lines of a log, and in words what was not read; `binary` if it is hardly text."""

    lines: tuple[LogLine, ...]
    unread: str = ""
    binary: bool = False


def read_log(data: bytes, unread: str = "") -> LogText:
    """The lines of what was read, cleaned."""
    text = _decoded(data)
    binary = len(_CONTROL.findall(text[:65536])) > len(text[:65536]) // 10
    raw = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    numbers = _chosen(raw)
    if len(numbers) < len(raw) and not unread:
        unread = f"of its {len(raw):,} lines only the first, the last and those around failures were read"
    lines = tuple(clean_line(raw[at][:_MOST_CHARACTERS], at + 1) for at in numbers if raw[at].strip())
    return LogText(lines=lines, unread=unread, binary=binary)


def _chosen(raw: list[str]) -> Sequence[int]:
    """Which lines of a long log are looked at: the first, the last, and those around telling words."""
    count = len(raw)
    if count <= _MOST_LINES:
        return range(count)
    chosen = {*range(_FIRST_LINES), *range(count - _LAST_LINES, count)}
    for at in range(count - 1, -1, -1):  # from the end: what is left out then is the oldest
        if len(chosen) >= _MOST_LINES:
            break
        if _TELLING_TEXT.search(raw[at], 0, _MOST_CHARACTERS):
            chosen.update(range(max(0, at - _AROUND_LINES), min(count, at + _AROUND_LINES)))
    return sorted(chosen)


def clean_line(line: str, number: int = 0) -> LogLine:
    """A line without colours and without what a logger, a container or a monitor has put before it."""
    text, level, tag = _ANSI.sub("", line), "", ""
    if "_Z" in text and _OF_LINKER not in text:
        text = _MANGLED.sub(lambda name: demangle(name[0]), text)
    for _ in range(_MOST_PREFIXES):
        bare = text.lstrip()
        found = next((match for pattern in _PREFIXES if (match := pattern.match(bare))), None)
        if found is None or found.end() == 0:
            break
        named = found.groupdict()
        said = named.get("level") or ""
        level, tag = _LEVELS.get(said, said) or level, (named.get("tag") or "").strip() or tag
        text = bare[found.end() :]
    return LogLine(number, text.rstrip(), level, tag)


def _decoded(data: bytes) -> str:
    return data.decode(_encoding(data), errors="replace").removeprefix("\ufeff")


def _encoding(data: bytes) -> str:
    """UTF-8, or the UTF-16 that PowerShell's > writes, with its mark or without."""
    if data[:2] == b"\xfe\xff":
        return "utf-16-be"
    start = data[:4096]
    unmarked = len(start) > 8 and start[1::2].count(0) > len(start) * 0.4
    return "utf-16-le" if data[:2] == b"\xff\xfe" or unmarked else "utf-8"


def read_bounded(stream: BinaryIO, size: int) -> tuple[bytes, str]:
    """Start and end of a large file with the telling lines between, and in words what was left out."""
    if size <= _HEAD_BYTES + _TAIL_BYTES:
        return stream.read(), ""
    head = stream.read(_HEAD_BYTES)
    encoding = _encoding(head)
    tail_at = _even(size - _TAIL_BYTES)
    middle, looked_from = _telling(stream, _HEAD_BYTES, tail_at, encoding)
    stream.seek(tail_at)
    left_out = f"it has {size / 1e6:,.0f} MB: of the middle only lines that name a failure were read"
    if looked_from > _HEAD_BYTES:
        left_out = (
            f"it has {size / 1e6:,.0f} MB: bytes {_HEAD_BYTES:,} to {looked_from:,} were not read; "
            "cut the log around the death and give that"
        )
    return "\n".encode(encoding).join((head, middle, stream.read(_TAIL_BYTES + 1))), left_out


def _even(count: int) -> int:
    """A place where no character of UTF-16 is cut in two."""
    return count - count % 2


def _telling(stream: BinaryIO, start: int, end: int, encoding: str) -> tuple[bytes, int]:
    """Surroundings of telling words between two places, and how far towards the start it came."""
    found: list[bytes] = []
    kept, at, least = 0, end, max(start, end - _MOST_SEARCHED_BYTES)
    while at > least and kept < _MOST_MIDDLE_BYTES:
        begin = max(least, at - _CHUNK_BYTES)
        stream.seek(begin)
        chunk, at = stream.read(at - begin), begin
        parts = [chunk[first:last] for first, last in _around(chunk, encoding)]
        while parts and kept < _MOST_MIDDLE_BYTES:
            found.append(parts.pop())
            kept += len(found[-1])
    return "\n".encode(encoding).join(reversed(found)), at


def _around(chunk: bytes, encoding: str) -> Iterator[tuple[int, int]]:
    """Where a chunk has telling words, with what stands around them. Looking for one word is quickest."""
    places = sorted(place for word in _WORDS for place in _places(chunk, word.encode(encoding)))
    last = 0
    for place in places:
        if place >= last:
            first, last = max(last, place - _AROUND_BYTES), place + _AROUND_BYTES
            yield first, last


def _places(chunk: bytes, word: bytes) -> Iterator[int]:
    """Where a word stands, but for places so near to the one before that they are read with it."""
    at = chunk.find(word)
    while at >= 0:
        yield at
        at = chunk.find(word, at + _AROUND_BYTES)


def read_stream(stream: BinaryIO) -> tuple[bytes, str]:
    """What a pipe gives until it ends, falls silent or gives too much; and in words what was left out.

    Of a long one, the start and the end are kept.
    """
    head, tail = bytearray(), bytearray()
    total, why = 0, ""
    for chunk in _chunks(stream):
        if isinstance(chunk, str):
            why = chunk
            break
        total += len(chunk)
        room = _HEAD_BYTES - len(head)
        head += chunk[:room]
        tail += chunk[room:] if room > 0 else chunk
        if len(tail) > 2 * _TAIL_BYTES:
            del tail[: _even(len(tail) - _TAIL_BYTES)]
    dropped = total - len(head) - len(tail)
    if dropped > 0:
        why = "; ".join(filter(None, (why, f"{dropped:,} bytes between its start and its end were not read")))
    return bytes(head + tail), why


def _chunks(stream: BinaryIO) -> Iterator[bytes | str]:
    """Chunks of a stream; a sentence in place of the next one where it does not end by itself."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        yield stream.read(_MOST_STREAM_BYTES)
        return
    began, total = time.monotonic(), 0
    while True:
        if total and not select.select([descriptor], [], [], _IDLE_S)[0]:
            yield f"the input did not end; this is what came before {_IDLE_S:.0f} s of silence"
            return
        chunk = os.read(descriptor, 1 << 20)
        if not chunk:
            return
        total += len(chunk)
        yield chunk
        if time.monotonic() - began > _STREAM_S or total > _MOST_STREAM_BYTES:
            yield f"the input did not end; this is what came in {time.monotonic() - began:.0f} s"
            return
