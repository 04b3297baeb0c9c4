"""A page on a terminal: the verdict first, then what decides; more of it with -v.

Findings are drawn by `finding_text`. Names are escaped here, and once more where lines are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outlive.finding import Severity
from outlive.names import safe, safe_lines, whole
from outlive.rendering.finding_text import rich_finding
from outlive.rendering.page import (
    Block,
    Cell,
    Chart,
    Choice,
    Column,
    Command,
    Findings,
    Listing,
    Page,
    Pre,
    Section,
    Table,
    Words,
    bar_share,
    cell_text,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

COLOURS = {"good": "green", "warn": "yellow", "bad": "red", "plain": ""}
_TEXT = 600
_NAME = 160
_SHORT = 60
_BAR = 16
_CURVE = 48
_EIGHTHS = " ▁▂▃▄▅▆▇█"
# A chart in words has so many rows at most; neighbours share one where there are more points.
_CHART_ROWS = 24
_RIGHT = ("number", "bytes", "bar", "share")


def draw_text(page: Page, detail: int = 0) -> Iterator[RenderableType]:
    """The parts of a page, top to bottom, as far as this much detail shows them."""
    from rich.text import Text

    only = page.sections[0].blocks if len(page.sections) == 1 else ()
    told = only[0].findings if len(only) == 1 and isinstance(only[0], Findings) else ()
    if told and page.verdict.word == told[0].headline:
        yield from map(rich_finding, told)  # what the page is about is all there is to say
        return
    word = safe(page.verdict.word, 200)
    colour = f"bold {COLOURS[page.verdict.tone]}".strip()
    yield Text.assemble((safe(page.subtitle or page.title, _NAME), "bold"), "  ", (word, colour))
    if page.verdict.sentence:
        yield _indented(Text(safe(page.verdict.sentence, _TEXT)))
    if page.tiles and (detail or not page.verdict.sentence):
        yield _grid([(tile.label, tile.value, tile.note) for tile in page.tiles])
    for section in page.sections:
        if section.detail <= detail:
            yield from _section(section, detail)


def _section(section: Section, detail: int) -> Iterator[RenderableType]:
    from rich.text import Text

    blocks = [block for block in section.blocks if _shown_from(block) <= detail]
    if not blocks:
        return
    beside = section.lead if len(section.lead) <= _SHORT else ""
    yield Text.assemble("\n", (safe(section.title, _NAME), "bold"), "  ", (safe(beside), "dim"))
    if section.lead != beside:
        yield _indented(Text(safe(section.lead, _TEXT), style="dim"))
    for block in blocks:
        if isinstance(block, Table) and block.caption == section.title:
            yield from _table(replace(block, caption=""), detail)
        else:
            yield from _block(block, detail)


def _shown_from(block: Block) -> int:
    return max(block.detail, 1) if isinstance(block, Table) and block.is_folded else block.detail


def _block(block: Block, detail: int) -> Iterator[RenderableType]:
    from rich.text import Text

    if isinstance(block, Words):
        yield _indented(Text(safe(block.text, 2 * _TEXT), style=COLOURS[block.tone]))
    elif isinstance(block, Listing):
        yield from _listing(block)
    elif isinstance(block, Pre):
        yield _indented(Text(safe(block.title, _NAME), style="dim"))
        yield _indented(Text(safe_lines(block.text)), 4)
    elif isinstance(block, Command):
        if block.words:
            yield _indented(Text(safe(block.words, _TEXT)))
        yield _indented(Text(whole(block.command), style="green"), 4)
    elif isinstance(block, Findings):
        yield from _findings(block, detail)
    elif isinstance(block, Table):
        yield from _table(block, detail)
    elif isinstance(block, Chart):
        yield from _chart(block, detail)
    elif isinstance(block, Choice):
        for chart in block.charts:
            yield from _chart(chart, detail)


def _findings(block: Findings, detail: int) -> Iterator[RenderableType]:
    """What is wrong in full; what is only noted in a line each, in full with -v."""
    from rich.text import Text

    if not block.findings:
        yield _indented(Text(block.nothing, style="green"))
    notes = [item for item in block.findings if not detail and item.severity is Severity.NOTE]
    yield from (rich_finding(item) for item in block.findings if item not in notes)
    for item in notes:
        head = (f"note[{item.code}]", "bold cyan")
        yield _indented(Text.assemble(head, f": {safe(item.headline, _TEXT)}"))
    if notes:
        yield _indented(Text("-v shows what to do about notes", style="dim"))


def _listing(block: Listing) -> Iterator[RenderableType]:
    from rich.text import Text

    if block.title:
        yield _indented(Text(safe(block.title, _NAME), style="dim"))
    for item in block.items:
        yield _indented(Text(safe(item, _TEXT)), 4 if block.title else 2)


def _table(block: Table, detail: int) -> Iterator[RenderableType]:
    from rich.text import Text

    rows = block.rows if detail else block.rows[: block.brief]
    kept = [
        number
        for number in range(len(block.columns))
        if block.columns[number].detail <= detail
        and (any(row[number] not in (None, "") for row in rows) or not rows)
    ]
    columns = [block.columns[number] for number in kept]
    if block.caption:
        yield _indented(Text(safe(block.caption, 200), style="dim"))
    table = _bare_table()
    table.add_column(width=0)
    for column in columns:
        right = column.kind in _RIGHT
        fold = "fold" if column.wide or column.kind == "mono" else "ellipsis"
        table.add_column(safe(column.title, 60), justify="right" if right else "left", overflow=fold)
        if column.kind == "bar":
            table.add_column("", width=_BAR)
    table.show_header = any(column.title for column in columns)
    for row in rows:
        table.add_row("", *(cell for number in kept for cell in _cells(block, number, row[number])))
    yield table
    if len(rows) < len(block.rows):
        yield _indented(Text(f"and {len(block.rows) - len(rows):,} more: -v shows all", style="dim"))


def _cells(block: Table, number: int, value: Cell) -> Iterator[RenderableType]:
    from rich.bar import Bar
    from rich.text import Text

    column = block.columns[number]
    text = cell_text(column, value)
    if column.kind == "chip":
        yield Text(text, style=COLOURS.get(column.tones.get(str(value), ""), ""))
        return
    yield Text(text)
    if column.kind == "bar":
        yield Bar(1, 0, bar_share(block, number, value), width=_BAR)


def _chart(block: Chart, detail: int) -> Iterator[RenderableType]:
    """A chart in words; with -v, bytes by operator as bars."""
    from rich.text import Text

    yield _indented(Text(safe(block.summary, 2 * _TEXT)))
    curve = _curve(block.data)
    if curve:
        yield _indented(Text(curve, style="blue"))
    table = _bars(block.data) if detail and block.data.get("kind") == "lines" else None
    if table is not None:
        yield from _table(table, 1)


def _curve(data: Any) -> str:
    """Bytes over time as one line of blocks; empty for other charts."""
    series: Any = data.get("series") or ()
    places: Any = data.get("x") or ()
    if data.get("x_kind") != "seconds" or data.get("y_kind") != "bytes" or not series or len(places) < 3:
        return ""
    end, most = places[-1] or 1.0, max(value or 0 for value in series[0]["values"])
    columns = [0] * _CURVE
    for place, value in zip(places, series[0]["values"], strict=True):
        at = min(_CURVE - 1, int(place / end * _CURVE))
        columns[at] = max(columns[at], value or 0)
    for at in range(1, _CURVE):
        columns[at] = columns[at] or columns[at - 1]
    return "".join(_EIGHTHS[min(8, round(8 * value / max(1, most)))] for value in columns)


def _bars(data: Any) -> Table | None:
    """The first series of a chart as a table of bars; the most of each row where points share one."""
    series = data.get("series") or ()
    labels = data.get("labels")
    if not series or data.get("y_kind") != "bytes" or labels is None:
        return None
    values = [value or 0 for value in series[0]["values"]]
    size = -(-len(values) // _CHART_ROWS) or 1
    rows: list[Sequence[Cell]] = []
    for start in range(0, len(values), size):
        part = values[start : start + size]
        high = start + part.index(max(part))
        rows.append((str(labels[high]), values[high]))
    title = str(series[0]["name"]) + (f", the most of {size} in a row" if size > 1 else "")
    columns = (Column(title="", kind="mono"), Column(title="", kind="bar"))
    return Table(id="bars", caption=title, columns=columns, rows=rows)


def _grid(rows: Sequence[tuple[str, str, str]]) -> Any:
    table = _bare_table()
    table.show_header = False
    for number, style in enumerate(("", "dim", "bold", "dim")):
        table.add_column(width=0 if number == 0 else None, style=style, overflow="fold")
    for row in rows:
        table.add_row("", *(safe(cell, 200) for cell in row))
    return table


def _bare_table() -> Any:
    from rich.table import Table as RichTable

    return RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def _indented(text: RenderableType, by: int = 2) -> RenderableType:
    """Text whose every line is indented, those that a narrow terminal makes of it too."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, by), expand=False)
