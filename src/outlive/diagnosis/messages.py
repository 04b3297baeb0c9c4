"""What runtimes and systems print when something fails, and what it means: the tables in messages/*.toml.

A message is a pattern over one line; `when` and `unless` are patterns over all lines of the same death. A row
with `signal` in place of a pattern is about an ending, one with `frame` about a function of a native stack.
Named groups (`op`, `node`, `needed`, `had` ...) are put into the words. `seen` says where the text was met:
in the build or the source of a version, or in public reports. `sample` is a log that it is recognised in, in
words of our own where only the format is known. `undo` is what to do where inputs were resized. `aside` is a
row on what a program lives on with: it is no reason for an end or an exception that comes after it. `code` is
the rule that judges the same fault elsewhere; without one, the rule of its `cause`.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from outlive.rules import load_rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# A log may be large, and a line of it hostile: no more than this of a line is looked at.
_MOST_CHARACTERS = 4000
# A pattern is tried where a line has a run of so many letters that it needs: most lines have none.
_RUN_LETTERS = 4
# What a message does not say.
_UNSAID = "?"
# The rule that is meant by causes that several have.
_USUAL = {
    "out-of-memory": "D502",
    "missing-runtime": "E401",
    "delegate-refused": "A803",
    "flatbuffer-corrupt": "F111",
    "unsupported-op": "O122",
    "representative-dataset": "Q216",
    "call-order": "I207",
}
# {op}, or several of which one is said: {type}{other}
_PLACE = re.compile(r"(?:\{[a-z_]+\})+")
_GROUP = re.compile(r"\{([a-z_]+)\}")
# What is unsaid among other things in parentheses is left out.
_LEFT_OUT = re.compile(r" \(\?(?:, \?)*\)| \(\? \w[^()?]*\? \w[^()?]*\)|(?<=\()\?, |, \?(?=[,)])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: whose it is, where it was seen, its cause in the taxonomy, and what to do."""

    id: str
    source: str
    seen: str
    sample: str
    means: str
    do: tuple[str, ...]
    pattern: re.Pattern[str] | None = field(default=None, repr=False)
    when: re.Pattern[str] | None = field(default=None, repr=False)
    unless: re.Pattern[str] | None = field(default=None, repr=False)
    signal: str = ""
    frame: bool = False
    cause: str = ""
    code: str = ""
    stage: str = ""
    op: str = ""
    undo: str = ""
    aside: bool = False
    weight: int = 1

    def allows(self, text: str) -> bool:
        """True if what else was printed speaks for this message and not against it."""
        return (self.when is None or self.when.search(text) is not None) and (
            self.unless is None or self.unless.search(text) is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message found in a text: the line, and what the message's groups caught."""

    message: Message
    line: str
    groups: dict[str, str]

    @property
    def meaning(self) -> str:
        """What it means here, with the operator, tensor and numbers the line names."""
        return self._filled(self.message.means)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do here."""
        return self.advice_for(resized=True)

    def advice_for(self, resized: bool) -> tuple[str, ...]:
        """What to do here; to undo a resize only where inputs were resized, or may have been."""
        undo = (self.message.undo,) if resized and self.message.undo else ()
        return tuple(map(self._filled, (*undo, *self.message.do)))

    def _filled(self, words: str) -> str:
        named = {"ratio": _ratio(self.groups.get("needed", ""), self.groups.get("got", ""))} | self.groups
        words = _PLACE.sub(
            lambda place: next(
                (named[name] for name in _GROUP.findall(place[0]) if named.get(name)), _UNSAID
            ),
            words,
        )
        return _LEFT_OUT.sub("", words)


# Bytes that are wanted against bytes that are given: what a whole ratio mostly comes from.
_RATIOS = {
    4.0: "four times as many, so it wants float32 (4 bytes each) and was given one byte each (uint8)",
    0.25: "a quarter, so it wants one byte for each value (uint8 or int8, quantized) and was given float32",
    2.0: "twice as many, so the data type is twice as wide, or one of two parts is missing",
    0.5: "half as many, so the data type given is twice as wide",
    3.0: "three times as many, so it wants three channels (RGB) and was given one",
    1 / 3: "a third, so it wants one channel (gray) and was given three (RGB)",
}
_OTHER_RATIO = "the size, the channels or the data type (float32 takes 4 bytes, uint8 one) are others"

# An image of one pixel (1, 3 or 4 channels of 1 or 4 bytes): what an exporter writes for a size to come.
_PLACEHOLDER_BYTES = (1, 3, 4, 12, 16)
_PLACEHOLDER = (
    "the input is a placeholder of 1 x 1, its size was left dynamic by the export, so resize it first "
    "(interpreter.resizeInput(0, intArrayOf(1, H, W, 3)), allocateTensors()) or export with a fixed size"
)


def _ratio(needed: str, got: str) -> str:
    if not (needed.isdigit() and got.isdigit() and int(got)):
        return _OTHER_RATIO
    if int(needed) in _PLACEHOLDER_BYTES and int(got) > max(_PLACEHOLDER_BYTES):
        return _PLACEHOLDER
    return _RATIOS.get(int(needed) / int(got), _OTHER_RATIO)


@functools.cache
def known_messages() -> tuple[Message, ...]:
    """The tables, the most telling messages first."""
    found = [
        _message(row)
        for path in files("outlive.diagnosis").joinpath("messages").iterdir()
        if path.name.endswith(".toml")
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["message"]
    ]
    return tuple(sorted(found, key=lambda message: (-message.weight, message.id)))


def _message(row: Mapping[str, Any]) -> Message:
    patterns = {name: re.compile(row[name]) for name in ("pattern", "when", "unless") if name in row}
    return Message(**{**row, **patterns, "do": tuple(row["do"])})


def code_of(cause: str) -> str:
    """The rule that finds this cause elsewhere: the first of the catalogue that bears its word."""
    if cause in ("", "unknown"):
        return ""
    found = {rule.name: rule.code for rule in load_rules() if cause in (rule.cause, rule.name)}
    return _USUAL.get(cause) or found.get(cause) or next(iter(found.values()), "")


@functools.cache
def _index() -> tuple[dict[str, list[int]], list[int]]:
    """Rows by runs of letters one of which their pattern needs, and rows whose pattern needs none."""
    by_run: dict[str, list[int]] = {}
    always = []
    for place, row in enumerate(known_messages()):
        if row.pattern is None or row.frame:
            continue
        needed = _needed_runs(row.pattern)
        for run in needed:
            by_run.setdefault(run, []).append(place)
        if not needed:
            always.append(place)
    return by_run, always


def _needed_runs(pattern: re.Pattern[str]) -> frozenset[str]:
    """Runs of lower-case letters one of which is in every text that matches; empty if there are none.

    The parser of `re` is not public: where it is gone, every pattern is tried on every line.
    """
    try:
        parser = importlib.import_module("re._parser")
        tree = parser.parse(pattern.pattern, pattern.flags)
    except (ImportError, AttributeError, re.error):
        return frozenset()
    found = _needed(tree)
    return frozenset() if found is None else found


def _needed(items: Iterable[Any]) -> frozenset[str] | None:
    """The smallest set of runs one of which a sequence needs; None if it can do without any."""
    best: frozenset[str] | None = None
    letters = ""
    for code, value in (*items, ("end", None)):
        name = str(code).lower()
        if name == "literal":
            letters += chr(value).lower()
            continue
        best = _better(best, _run(letters))
        letters = ""
        best = _better(best, _inside(name, value))
    return best


def _inside(name: str, value: Any) -> frozenset[str] | None:
    if name == "subpattern":
        return _needed(value[-1])
    if name == "branch":
        parts = [_needed(part) for part in value[1]]
        return None if None in parts else frozenset().union(*(part for part in parts if part))
    if name in ("max_repeat", "min_repeat", "possessive_repeat") and value[0] > 0:
        return _needed(value[2])
    return None


def _run(letters: str) -> frozenset[str] | None:
    """One run of a literal: from its middle, where words are least alike."""
    if len(letters) < _RUN_LETTERS:
        return None
    at = (len(letters) - _RUN_LETTERS) // 2
    return frozenset({letters[at : at + _RUN_LETTERS]})


def _better(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    if first is None or second is None:
        return second if first is None else first
    return first if len(first) <= len(second) else second


def candidates(line: str) -> Iterator[Message]:
    """The rows that a line may hold, by the runs of letters in it."""
    by_run, always = _index()
    lower = line.lower()
    runs = {lower[at : at + _RUN_LETTERS] for at in range(len(lower) - _RUN_LETTERS + 1)}
    places = {*always, *(place for run in runs & by_run.keys() for place in by_run[run])}
    return (known_messages()[place] for place in sorted(places))


def matches(line: str, text: str | None = None) -> Iterator[Match]:
    """Every message that a line holds, the most telling first; `text` is all that was printed with it."""
    line = line[:_MOST_CHARACTERS]
    for message in candidates(line):
        found = message.pattern.search(line) if message.pattern is not None else None
        if found and message.allows(line if text is None else text):
            yield match_of(message, line, found.groupdict())


def match_of(message: Message, line: str, groups: Mapping[str, str | None]) -> Match:
    """The message with what its groups caught."""
    named = {name: value for name, value in groups.items() if value}
    if message.op:
        named.setdefault("op", message.op)
    return Match(message=message, line=line.strip(), groups=named)


def translate(text: str) -> Match | None:
    """The most telling message in a runtime's complaint, with all that the others in it name."""
    if not text.strip():
        return next(matches("RuntimeError:"), None)
    found = [match for line in text.splitlines() for match in matches(line, text)]
    if not found:
        return None
    best = max(found, key=lambda match: match.message.weight)
    groups: dict[str, str] = {}
    for match in (*(item for item in found if "Delegate" not in item.groups.get("op", "")), best):
        groups.update(match.groups)
    return Match(message=best.message, line=best.line, groups=groups)
