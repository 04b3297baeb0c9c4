"""What runtimes and systems are known to print, and what it means: one table, in messages.json.

A message is a pattern over one line; the groups it names (`op`, `node`, `name`, `needed`, `had` ...) are put
into the words of its meaning. `seen` says where the text was met: in the build or the source of a version,
or, for systems that are not at hand, in public logs and reports. `sample` is a line as it is printed; where
only the source was read, its format with values put in. `undo` is what to do where inputs were resized.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files

# A log may be large, and a line of it hostile: no more than this of a line is looked at.
_MOST_CHARACTERS = 4000
# What a message does not say.
_UNSAID = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: whose it is, where it was seen, its cause in the taxonomy, and what to do."""

    id: str
    source: str
    seen: str
    pattern: re.Pattern[str] = field(repr=False)
    sample: str
    cause: str
    means: str
    do: tuple[str, ...]
    undo: str = ""
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message found in a text: the line, and what the message's groups caught."""

    message: Message
    line: str
    groups: dict[str, str]

    @property
    def meaning(self) -> str:
        """What it means here, with the operator, tensor and numbers the line names."""
        return self.message.means.format_map(_Told(self.groups))

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do here."""
        return self.advice_for(resized=True)

    def advice_for(self, resized: bool) -> tuple[str, ...]:
        """What to do here; to undo a resize only where inputs were resized, or may have been."""
        undo = (self.message.undo,) if resized and self.message.undo else ()
        return tuple(words.format_map(_Told(self.groups)) for words in (*undo, *self.message.do))


class _Told(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _UNSAID


def _is_delegates(match: Match) -> bool:
    """True if the line names a delegate's own node, which is no operator of the model."""
    return "Delegate" in match.groups.get("op", "")


@functools.cache
def known_messages() -> tuple[Message, ...]:
    """The table, the most telling messages first."""
    rows = json.loads(files("outlive.diagnosis").joinpath("messages.json").read_text(encoding="utf-8"))
    found = [
        Message(
            id=row["id"],
            source=row["source"],
            seen=row["seen"],
            pattern=re.compile(row["pattern"]),
            sample=row["sample"],
            cause=row["cause"],
            means=row["means"],
            do=tuple(row["do"]),
            undo=row.get("undo", ""),
            weight=row.get("weight", 1),
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda message: -message.weight))


def matches(line: str) -> Iterator[Match]:
    """Every message that a line holds, the most telling first."""
    line = line[:_MOST_CHARACTERS]
    for message in known_messages():
        found = message.pattern.search(line)
        if found:
            groups = {name: value for name, value in found.groupdict().items() if value}
            yield Match(message=message, line=line.strip(), groups=groups)


def translate(text: str) -> Match | None:
    """The most telling message in a runtime's complaint, with all that the others in it name."""
    if not text.strip():
        return next(matches("RuntimeError:"), None)
    found = [match for line in text.splitlines() for match in matches(line)]
    if not found:
        return None
    best = max(found, key=lambda match: match.message.weight)
    groups: dict[str, str] = {}
    for match in (*(item for item in found if not _is_delegates(item)), best):
        groups.update(match.groups)
    return Match(message=best.message, line=best.line, groups=groups)
