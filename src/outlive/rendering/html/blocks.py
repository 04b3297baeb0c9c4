"""What a page is made of: plain data that the templates draw. Text may be anything; it is made safe there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from outlive.finding import Finding

Tone = Literal["good", "warn", "bad", "plain"]
Cell = str | int | float | bool | None
# bytes: a size; number: a count or a measure; bar: a size, drawn as well; chip: a coloured word;
# share: 0 to 1 as a percentage; mono: a name or a shape; text: words.
ColumnKind = Literal["text", "mono", "number", "bytes", "bar", "chip", "share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What it all comes to: a word, and a sentence that is true alone."""

    tone: Tone
    word: str
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number worth seeing first."""

    label: str
    value: str
    note: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A paragraph."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Short lines, one below the other, with a heading if there is one."""

    items: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pre:
    """A log or a stack, folded until somebody opens it."""

    title: str
    text: str
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to copy, and what it does."""

    command: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Findings, each with its evidence and what to do."""

    findings: tuple[Finding, ...]
    nothing: str = "Nothing was found."


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its title, and how its cells are shown and sorted."""

    title: str
    kind: ColumnKind = "text"
    # chip: the colour of each word, by name (`good`, `warn`, `bad`) or number ("0" to "9").
    tones: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows that can be sorted and filtered; long ones are drawn as they are scrolled."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture drawn by the script, `data` as charts.js takes it, with its content in words and numbers."""

    id: str
    title: str
    summary: str
    data: Mapping[str, Any]
    table: Table | None = None
    hint: str = "Drag to zoom, double-click to see all."


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of several charts at a time, chosen by its title."""

    label: str
    charts: tuple[Chart, ...]


Block = Words | Listing | Pre | Command | Findings | Table | Chart | Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page with a heading; `id` is its anchor."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page. `document` is the JSON document of the command, embedded as it is."""

    title: str
    kind: str
    verdict: Verdict
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = ()
    document: Mapping[str, Any]
    subtitle: str = ""
