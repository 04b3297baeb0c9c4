"""The one document that every medium draws: a verdict, tiles, and sections of blocks, all of it plain data.

Text may be anything; each medium makes it safe. `detail` says when a terminal shows something: 0 always,
1 with -v, 2 with -vv; a page in a browser shows all of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from outlive.finding import Finding, Severity
from outlive.names import safe
from outlive.rendering.finding_text import count_findings
from outlive.units import format_bytes

Tone = Literal["good", "warn", "bad", "plain"]
Cell = str | int | float | bool | None
_LONGEST_CELL = 300
# Kinds of columns that stand at the right.
NUMBERS = ("number", "bytes", "bar", "share")
# bytes: a size; number: a count or a measure; bar: a size, drawn as well; chip: a coloured word;
# share: 0 to 1 as a percentage; mono: a name or a shape; text: words.
ColumnKind = Literal["text", "mono", "number", "bytes", "bar", "chip", "share"]


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What it all comes to: a word, and a sentence that is true alone."""

    tone: Tone
    word: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A number worth seeing first."""

    label: str
    value: str
    note: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: str
    tone: Tone = "plain"
    detail: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Short lines, one below the other, with a heading if there is one; steps are numbered."""

    items: tuple[str, ...]
    title: str = ""
    detail: int = 0
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class Pre:
    """A log or a stack, folded until somebody opens it."""

    title: str
    text: str
    is_open: bool = False
    detail: int = 1


@dataclass(frozen=True, slots=True)
class Command:
    """A command to copy, and what it does."""

    command: str
    words: str = ""
    detail: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings, each with its evidence and what to do; a terminal shows those that are brief in a line."""

    findings: tuple[Finding, ...]
    nothing: str = "No findings."
    detail: int = 0
    is_brief: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, and how its cells are shown and sorted."""

    title: str
    kind: ColumnKind = "text"
    # chip: the colour of each word, by name (`good`, `warn`, `bad`) or number ("0" to "9").
    tones: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    detail: int = 0


def columns(*specs: str | Column) -> tuple[Column, ...]:
    """Columns of a table, as one writes its head: `name: mono wide | size: bytes | options: -v`.

    Behind a title come its kind (text if there is none), `wide`, and `-v` or `-vv` for what a terminal shows
    with that only. Columns whose titles or tones are computed stand between such heads.
    """
    found: list[Column] = []
    for spec in specs:
        found += [spec] if isinstance(spec, Column) else map(_column, spec.split(" | "))
    return tuple(found)


def _column(spec: str) -> Column:
    title, _, words = spec.partition(": ")
    kind: Any = next((word for word in words.split() if word not in ("wide", "-v", "-vv")), "text")
    detail = 2 if "-vv" in words else 1 if "-v" in words else 0
    return Column(title, kind, wide="wide" in words, detail=detail)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that can be sorted and filtered; long ones are drawn as they are scrolled.

    A terminal shows the first `brief` rows, and all with -v; one that is folded it shows with -v only.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False
    detail: int = 0
    brief: int = 12


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture drawn by the script, `data` as charts.js takes it, with its content in words and numbers.

    A card in a notebook shows one that is folded when somebody opens it.
    """

    id: str
    title: str
    summary: str
    data: Mapping[str, Any]
    table: Table | None = None
    hint: str = "Drag to zoom, double-click to see all."
    detail: int = 1
    is_folded: bool = False


def curve(name: str, tone: str, style: str, values: Sequence[float | None], **more: Any) -> Mapping[str, Any]:
    """A curve of a chart, drawn as a line, an area, dashes or bars."""
    return {"name": name, "tone": tone, "style": style, "values": values, **more}


def lines(
    x: Iterable[float],
    x_axis: tuple[str, str],
    y_axis: tuple[str, str],
    *curves: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """The data of a chart of curves over x. An axis is its unit and its name; None in `more` is left out."""
    axes = {"x_kind": x_axis[0], "x_name": x_axis[1], "y_kind": y_axis[0], "y_name": y_axis[1]}
    given = {name: value for name, value in more.items() if value is not None}
    return {"kind": "lines", "x": list(x), **axes, "series": list(curves), **given}


def legend(curves: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """The names of curves beside their colours."""
    return [{"name": one["name"], "tone": one["tone"]} for one in curves]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several charts at a time, chosen by its title."""

    label: str
    charts: tuple[Chart, ...]
    detail: int = 1


Block = Words | Listing | Pre | Command | Findings | Table | Chart | Choice


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading; `id` is its anchor."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    detail: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page; `kind` is that of the result it shows."""

    title: str
    kind: str
    verdict: PageVerdict
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = ()
    subtitle: str = ""


def make_page(
    kind: str, path: str | None, verdict: PageVerdict, tiles: Iterable[Tile], sections: Iterable[Section]
) -> Page:
    """The page about a file, titled with the file's name."""
    name = os.path.basename(path.rstrip(os.sep)) if path else "model given as bytes"
    return Page(
        title=name or str(path),
        kind=kind,
        verdict=verdict,
        tiles=tuple(tiles),
        sections=tuple(sections),
        subtitle=path or "",
    )


def broken_page(kind: str, path: str | None, findings: Sequence[Finding]) -> Page:
    """The page of a file that cannot be used, or of a run that was not started."""
    word = findings[0].headline if findings else "not usable"
    return make_page(kind, path, PageVerdict(tone="bad", word=word), (), findings_sections(findings))


def findings_sections(findings: Sequence[Finding], title: str = "Findings") -> list[Section]:
    """The findings, the worst first, if there are any."""
    if not findings:
        return []
    blocks: tuple[Block, ...] = (Findings(findings=tuple(findings)),)
    return [Section(id="findings", title=title, blocks=blocks, lead=f"{count_findings(findings)}.")]


def worst_tone(findings: Sequence[Finding]) -> Tone:
    """How bad the worst of them is."""
    found = {finding.severity for finding in findings}
    return "bad" if Severity.ERROR in found else "warn" if Severity.WARNING in found else "good"


def cell_text(column: Column, value: Cell) -> str:
    """What is shown of a cell; nothing for None. tables.js says the same in the browser."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return safe(value, _LONGEST_CELL)
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite" if value > 0 else "minus infinite"
    if column.kind in ("bytes", "bar"):
        return format_bytes(round(value))
    if column.kind == "share":
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def sort_key(column: Column, value: Cell) -> str:
    """What a cell is sorted by: a number as JavaScript writes it, words in small letters.

    Nothing for None and what is no number: they go last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if column.kind in NUMBERS and isinstance(value, (int, float)):
        return repr(float(value)).replace("inf", "Infinity")
    return cell_text(column, value).lower()


def bar_share(table: Table, column: int, value: Cell) -> float:
    """How long a bar is, as a share of the longest in its column."""
    sizes = [row[column] for row in table.rows]
    most = max((size for size in sizes if isinstance(size, (int, float)) and math.isfinite(size)), default=0)
    if not isinstance(value, (int, float)) or math.isnan(value) or most <= 0:
        return 0.0
    return max(0, min(value, most)) / most
