"""Reads what a core file says of itself, and the stack where a debugger is installed.

ELF header ──► program headers ──► PT_NOTE ──► NT_PRSTATUS (signal), NT_PRPSINFO (command)
gdb or pystack, if there is one ──► the frames
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from outlive.finding import as_argument
from outlive.records import NOT_WRITTEN, written

_MAGIC, _CORE = b"\x7fELF", 4
_CLASS_64, _LITTLE = 2, 1
_PT_NOTE, _NT_PRSTATUS, _NT_PRPSINFO = 4, 1, 3
# struct elf_prstatus and elf_prpsinfo, 64 bits (linux/elfcore.h): where the signal and the name are.
_CURRENT_SIGNAL_AT, _NAME_AT, _NAME_BYTES = 12, 40, 16
_MOST_NOTES, _MOST_HEADERS = 10_000, 10_000
_DEBUGGER_S = 60
_MOST_FRAMES = 40
# #5  0x00007f91a0ed8a53 in name (arguments) from library; `operator()` and `(anonymous` belong to the name.
_GDB_FRAME = re.compile(
    r"(#\d+)\s+(?:0x[0-9a-f]+ in )?((?:operator\(\)|\(anonymous namespace\)|[^(])+)(\(.*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreSeen:
    """A core file: the signal, the command, frames if a debugger gave some, and how to see them if not."""

    signal: str | None
    command: str
    frames: tuple[str, ...] = ()
    commands: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    tool: str = field(default="", metadata=written(null=True))


def is_core(data: bytes) -> bool:
    """True for the ELF file that a dying process leaves."""
    return data[:4] == _MAGIC and len(data) >= 64 and int.from_bytes(data[16:18], "little") == _CORE


def read_core(data: bytes, path: str | None) -> CoreSeen:
    """What a core file says; a debugger is asked only if there is a file to show it."""
    name, command = None, ""
    for kind, body in _notes(data):
        if kind == _NT_PRSTATUS and name is None and len(body) >= _CURRENT_SIGNAL_AT + 2:
            name = _signal_name(struct.unpack_from("<h", body, _CURRENT_SIGNAL_AT)[0])
        elif kind == _NT_PRPSINFO and not command:
            command = _text(body[_NAME_AT : _NAME_AT + _NAME_BYTES])
    tool, frames = ("", ()) if path is None else _stack(path)
    commands = () if frames else _how_to(path or "CORE")
    return CoreSeen(signal=name, command=command, frames=frames, commands=commands, tool=tool)


def _notes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The notes of a 64-bit little-endian core; none of any other, or where the file lies."""
    if data[4:6] != bytes((_CLASS_64, _LITTLE)):
        return
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(min(count, _MOST_HEADERS)):
        at = offset + number * size
        if at + 56 > len(data):
            return
        kind, start, length = _segment(data, at)
        if kind == _PT_NOTE:
            yield from _in_segment(data[start : start + length])


def _segment(data: bytes, at: int) -> tuple[int, int, int]:
    kind = struct.unpack_from("<I", data, at)[0]
    start = struct.unpack_from("<Q", data, at + 8)[0]
    length = struct.unpack_from("<Q", data, at + 32)[0]
    return kind, start, length


def _in_segment(block: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for _ in range(_MOST_NOTES):
        if at + 12 > len(block):
            return
        name_bytes, body_bytes, kind = struct.unpack_from("<III", block, at)
        body_at = at + 12 + -(-name_bytes // 4) * 4
        yield kind, block[body_at : body_at + body_bytes]
        at = body_at + -(-body_bytes // 4) * 4


def _stack(path: str) -> tuple[str, tuple[str, ...]]:
    """The frames, and which tool gave them; empty where none is installed or none came."""
    for tool, command in _debuggers(path):
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=_DEBUGGER_S, check=False
            )
        except (OSError, subprocess.SubprocessError):
            continue
        frames = tuple(_frames(done.stdout))
        if frames:
            return tool, frames
    return "", ()


def _frames(text: str) -> Iterator[str]:
    lines = [line.strip() for line in text.splitlines()]
    telling = [_shortened(line) for line in lines if line.startswith(("#", "(C) File", "(Python) File"))]
    yield from list(dict.fromkeys(telling))[:_MOST_FRAMES]  # gdb says where it stands before it says all


def _shortened(line: str) -> str:
    """A frame of gdb's as number, function and library; arguments are long and seldom known."""
    found = _GDB_FRAME.match(line)
    if found is None:
        return line
    number, called, rest = found.groups()
    library = rest.rpartition(" from ")[2].rpartition("/")[2] if " from " in rest else ""
    return f"{number} {called.strip()}" + (f"  {library}" if library else "")


def _debuggers(path: str) -> tuple[tuple[str, list[str]], ...]:
    core = as_argument(path)
    return (
        ("pystack", ["pystack", "core", core, sys.executable, "--native-all"]),
        ("gdb", ["gdb", "--batch", "-nx", "-ex", "bt", sys.executable, core]),
    )


def _how_to(path: str) -> tuple[str, ...]:
    return tuple(shlex.join(command) for _, command in _debuggers(path))


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if number else None


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", errors="replace")
