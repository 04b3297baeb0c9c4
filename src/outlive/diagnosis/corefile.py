"""Reads what a core file says of itself, and the stack where a debugger is installed.

ELF header ──► program headers ──► PT_NOTE ──► signal, command, mapped files
                               └─► PT_LOAD ──► strings on top of the stack: the whole command line
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
_PT_LOAD, _PT_NOTE = 1, 4
_NT_PRSTATUS, _NT_PRPSINFO, _NT_AUXV, _NT_FILE = 1, 3, 6, 0x46494C45
# The address of the program's name (linux/auxvec.h): right before it lie the arguments and the environment.
_AT_EXECFN = 31
# struct elf_prstatus and elf_prpsinfo, 64 bits (linux/elfcore.h): where the signal and the name are.
_CURRENT_SIGNAL_AT, _NAME_AT, _NAME_BYTES = 12, 40, 16
_COMMAND_AT, _COMMAND_BYTES = 56, 80
_MOST_STRING_BYTES, _MOST_COMMAND = 256 << 10, 4000
_MODEL_NAME = re.compile(r"\.(?:tflite|litert|lite)$")
_MOST_FILES, _MOST_MODELS = 20_000, 8
# How a string of the environment begins.
_SETTING = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*=")
_MOST_NOTES, _MOST_HEADERS = 10_000, 10_000
_DEBUGGER_S = 60
_MOST_FRAMES = 40
# #5  0x00007f91a0ed8a53 in name (arguments) from library; `operator()` and `(anonymous` belong to the name.
_GDB_FRAME = re.compile(
    r"(#\d+)\s+(?:0x[0-9a-f]+ in )?((?:operator\(\)|\(anonymous namespace\)|[^(])+)(\(.*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreSeen:
    """A core file: the signal, the command, frames if a debugger gave some, and how to see them if not.

    `model_files` are the models that the process had mapped.
    """

    signal: str | None
    command: str
    model_files: tuple[str, ...] = field(default=(), metadata=written(omit=True))
    frames: tuple[str, ...] = ()
    commands: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    tool: str = field(default="", metadata=written(null=True))


def is_core(data: bytes) -> bool:
    """True for the ELF file that a dying process leaves."""
    return data[:4] == _MAGIC and len(data) >= 64 and int.from_bytes(data[16:18], "little") == _CORE


def read_core(data: bytes, path: str | None) -> CoreSeen:
    """What a core file says; a debugger is asked only if there is a file to show it."""
    notes: dict[int, bytes] = {}
    for kind, body in _notes(data):
        notes.setdefault(kind, body)
    status, info = notes.get(_NT_PRSTATUS, b""), notes.get(_NT_PRPSINFO, b"")
    name = None
    if len(status) >= _CURRENT_SIGNAL_AT + 2:
        name = _signal_name(struct.unpack_from("<h", status, _CURRENT_SIGNAL_AT)[0])
    said = _text(info[_COMMAND_AT : _COMMAND_AT + _COMMAND_BYTES]).strip()
    command = _command_line(data, path, notes.get(_NT_AUXV, b""), said)
    command = command or said or _text(info[_NAME_AT : _NAME_AT + _NAME_BYTES])
    models = tuple(_mapped_models(notes.get(_NT_FILE, b"")))
    tool, frames = ("", ()) if path is None else _stack(path)
    commands = () if frames else _how_to(path or "CORE")
    return CoreSeen(
        signal=name, command=command, model_files=models, frames=frames, commands=commands, tool=tool
    )


def _mapped_models(note: bytes) -> Iterator[str]:
    """Files of models in the list of mapped files (linux, fs/binfmt_elf.c: fill_files_note)."""
    if len(note) < 16:
        return
    count = min(struct.unpack_from("<Q", note)[0], _MOST_FILES)
    names = note[16 + 24 * count :].split(b"\0", count)[:count]
    found = dict.fromkeys(name.decode("utf-8", errors="replace") for name in names)
    yield from [name for name in found if _MODEL_NAME.search(name)][:_MOST_MODELS]


def _command_line(data: bytes, path: str | None, auxv: bytes, said: str) -> str:
    """The arguments in full, from the top of the stack, where the core has it; `said` is how they begin.

    The kernel puts the strings of the arguments, then those of the environment, then the program's name.
    """
    pairs = dict(struct.iter_unpack("<QQ", auxv[: len(auxv) // 16 * 16]))
    place = _place_of(data, pairs.get(_AT_EXECFN, 0))
    if place is None or not said:
        return ""
    start, end = place
    strings = _strings(data, path, max(start, end - _MOST_STRING_BYTES), end)
    # The note has spaces between the arguments, the stack has zeros.
    at = re.search(b"[ \\0]".join(map(re.escape, said.encode(errors="replace").split(b" "))), strings)
    if at is None:
        return ""
    words: list[bytes] = []
    for word in strings[at.start() :].split(b"\0"):
        if words and _SETTING.match(word):
            break
        words.append(word)
    return b" ".join(words).decode("utf-8", errors="replace").strip()[:_MOST_COMMAND]


def _strings(data: bytes, path: str | None, start: int, end: int) -> bytes:
    """Bytes of a core file: what was read of it may not reach so far."""
    if end <= len(data) or path is None:
        return data[start:end]
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(end - start)
    except (OSError, ValueError, OverflowError):
        return b""


def _place_of(data: bytes, address: int) -> tuple[int, int] | None:
    """Where in the file the memory up to an address begins and ends; None if the core does not have it."""
    for kind, start, length, memory in _segments(data):
        if kind == _PT_LOAD and memory <= address < memory + length:
            return start, start + address - memory
    return None


def _notes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The notes of a core; none where the file lies."""
    for kind, start, length, _ in _segments(data):
        if kind == _PT_NOTE:
            yield from _in_segment(data[start : start + length])


def _segments(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Kind, place, length and address of the segments of a 64-bit little-endian core; none of any other."""
    if data[4:6] != bytes((_CLASS_64, _LITTLE)):
        return
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(min(count, _MOST_HEADERS)):
        at = offset + number * size
        if at + 56 > len(data):
            return
        kind = struct.unpack_from("<I", data, at)[0]
        start, memory = struct.unpack_from("<QQ", data, at + 8)
        yield kind, start, struct.unpack_from("<Q", data, at + 32)[0], memory


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
