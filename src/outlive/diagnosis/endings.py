"""How a process ended, by what a shell, a service manager, a container or a debugger prints: one table.

`endings.toml` has the words in nine and more languages; numbers are worked out here: 128 + signal (shells,
Docker), -signal (Python's subprocess), 256 - signal (the same as a byte), and Windows' status codes signed,
unsigned and in hex.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CORE_DUMPED = r"(?: ?(?:\([^()]{0,40}\)|\uff08[^\uff08\uff09]{0,40}\uff09|- core dumped))?"
# bash: `x.sh: line 3:  42 Killed   python a.py`; zsh: `[1]    42 killed     python a.py`; or the word alone.
_BEFORE = (
    r"(?:^|^\S{1,80}: (?:line |Zeile |ligne |línea |riga |linha |行 ?|第 ?)?\d+ ?[行줄]?: *|\] +)(?:\d+ +)?"
)
_AFTER = r"(?:: \d+)?" + _CORE_DUMPED + r"(?: {2,}.*| *[.\u3002]?)$"
_EXIT = re.compile(
    r"(?:\b(?:exit(?:ed|ing|s)?|return(?:ed)?|status|rc|finished|terminated|failed|ended|died)\b|"
    r"ExitCode|Exited|exit_?code|returncode)"
    r"(?:\s+(?:with|a|non-zero|nonzero|exit|return|error|code|status|value|by|process|on|signal))*"
    r"\"?[:=]?\s*\(?(?P<code>-\d{1,10}|0[xX][0-9a-fA-F]{8}|\d{1,10})\b(?!\.\d|/\d)"
)
_OF_EXITS = re.compile(r"code|status|exit|rc\b", re.IGNORECASE)
# systemd: `code=killed, status=11/SEGV`; qemu and others: `signal 11`.
_BY_SIGNAL = re.compile(
    r"status=(?P<systemd>\d+)/[A-Z]|(?:[Ss]ignal|signo)[ :=]+(?P<number>\d{1,2})\b(?! of)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One line that tells how a process ended: by which signal, or by which status of Windows."""

    signal: str
    line_number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spelling:
    signal: str
    pattern: re.Pattern[str]


@functools.cache
def _table() -> tuple[dict[str, Any], ...]:
    text = files("outlive.diagnosis").joinpath("endings.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["ending"])


@functools.cache
def _spellings() -> tuple[_Spelling, ...]:
    found = []
    for row in _table():
        parts = [f"(?:{'|'.join(row['words'])})"] if row.get("words") else []
        if row.get("alone"):
            parts.append(f"{_BEFORE}(?:{'|'.join(row['alone'])}){_AFTER}")
        if parts:
            found.append(_Spelling(signal=row["signal"], pattern=re.compile("|".join(parts))))
    return tuple(found)


@functools.cache
def _by_number() -> dict[int, str]:
    """Signals by every number that stands for one as an exit code."""
    found: dict[int, str] = {}
    for row in _table():
        for number in (row.get("number"), row.get("apple_number")):
            if number:
                found |= {128 + number: row["signal"], -number: row["signal"], 256 - number: row["signal"]}
        for status in row.get("ntstatus", ()):
            found |= {status: row["signal"], status - (1 << 32): row["signal"]}
    return found


def _plain_numbers() -> dict[int, str]:
    return {row["number"]: row["signal"] for row in _table() if row.get("number")}


def ending_in(line: str, line_number: int = 0) -> Ending | None:
    """The ending that a line tells of; None if it tells of none."""
    signal = _signal(line)
    return Ending(signal=signal, line_number=line_number, text=line.strip()) if signal else None


def _signal(line: str) -> str:
    for spelling in _spellings():
        if spelling.pattern.search(line):
            return spelling.signal
    named = _BY_SIGNAL.search(line)
    if named and (named["systemd"] or named["number"]):
        plain = _plain_numbers().get(int(named["systemd"] or named["number"]), "")
        if plain:
            return plain
    for found in _EXIT.finditer(line):
        number = found["code"] if _OF_EXITS.search(found[0]) and _is_number(found["code"]) else "0"
        signal = _by_number().get(int(number, 0), "")
        if signal:
            return signal
    return ""


def _is_number(text: str) -> bool:
    return text.lower().startswith("0x") or not (text.startswith("0") and len(text) > 1)
