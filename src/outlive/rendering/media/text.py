"""A page on a terminal: the verdict first, then what decides; more of it with -v.

Findings are drawn by `finding_text`. Names are escaped here, and once more where lines are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.bar import Bar
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from outlive.finding import Finding, Severity
from outlive.names import safe, safe_lines, whole
from outlive.rendering import page as ui
from outlive.rendering.finding_text import Line, Wrapped, count_findings, rich_finding

COLOURS = {"good": "green", "warn": "yellow", "bad": "red", "plain": ""}
MARKS = {"good": "✓", "warn": "!", "bad": "✗"}
_TEXT = 600
_NAME = 160
_SHORT = 60
_BAR = 16
_CURVE = 48
_EIGHTHS = " ▁▂▃▄▅▆▇█"
# A chart in words has so many rows at most; neighbours share one where there are more points.
_CHART_ROWS = 24


def draw_text(page: ui.Page, detail: int = 0) -> Iterator[RenderableType]:
    """The parts of a page, top to bottom, as far as this much detail shows them.

    What went wrong comes first, with what to do: the error that decides, and it is not drawn again.
    """
    decisive = _decisive(page)
    if decisive is not None:
        yield rich_finding(decisive, detail)
        page = _without(page, decisive)
    if decisive is not None and page.verdict.word == decisive.headline and not page.sections:
        return
    if decisive is None or page.verdict.word != decisive.headline:
        yield Wrapped([_verdict(page)])
    if page.verdict.sentence and (decisive is None or detail):
        yield _indented(safe(page.verdict.sentence, _TEXT))
    if page.tiles and (detail or not page.verdict.sentence):
        yield _grid([(tile.label, tile.value, tile.note) for tile in page.tiles])
    for section in page.sections:
        if section.detail <= detail:
            yield from _section(section, detail)


def _verdict(page: ui.Page) -> Line:
    """The answer in a line: a mark, the file, and the word for it."""
    colour = f"bold {COLOURS[page.verdict.tone]}".strip()
    mark = f"{MARKS[page.verdict.tone]} " if page.verdict.tone in MARKS else ""
    start = f"{mark}{safe(page.subtitle or page.title, _NAME)}"
    return Line(start, f"  {safe(page.verdict.word, 200)}", colour, start_style="bold", hang=4)


def _decisive(page: ui.Page) -> Finding | None:
    """The first error that the page shows at once, if it is what the page comes to."""
    blocks = (block for section in page.sections if not section.detail for block in section.blocks)
    found = (item for block in blocks if isinstance(block, ui.Findings) for item in block.findings)
    errors = (item for item in found if item.severity is Severity.ERROR)
    return next(errors, None) if page.verdict.tone == "bad" else None


def _without(page: ui.Page, shown: Finding) -> ui.Page:
    """The page without a finding, and without sections that are empty then."""
    sections = (_section_without(section, shown) for section in page.sections)
    return replace(page, sections=tuple(section for section in sections if section.blocks))


def _section_without(section: ui.Section, shown: Finding) -> ui.Section:
    """The section without a finding; a lead that counts findings counts those that are left."""
    blocks: list[ui.Block] = []
    lead = section.lead
    for block in section.blocks:
        if not isinstance(block, ui.Findings) or shown not in block.findings:
            blocks.append(block)
            continue
        left = tuple(item for item in block.findings if item is not shown)
        lead = f"{count_findings(left)} more." if lead == f"{count_findings(block.findings)}." else lead
        blocks += [replace(block, findings=left)] if left else []
    return replace(section, blocks=tuple(blocks), lead=lead)


def _section(section: ui.Section, detail: int) -> Iterator[RenderableType]:
    blocks = [block for block in section.blocks if _shown_from(block) <= detail]
    if not blocks:
        return
    beside = section.lead if len(section.lead) <= _SHORT else ""
    yield Text("")
    heading, lead = safe(section.title, _NAME), f"  {safe(beside)}" if beside else ""
    yield Wrapped([Line(heading, lead, "dim", start_style="bold", hang=4)])
    if section.lead != beside:
        yield _indented(safe(section.lead, _TEXT), "dim")
    for block in blocks:
        if isinstance(block, ui.Table) and block.caption == section.title:
            yield from _table(replace(block, caption=""), detail)
        else:
            yield from _block(block, detail)


def _shown_from(block: ui.Block) -> int:
    return max(block.detail, 1) if isinstance(block, ui.Table) and block.is_folded else block.detail


def _block(block: ui.Block, detail: int) -> Iterator[RenderableType]:
    if isinstance(block, ui.Words):
        yield _indented(safe(block.text, 2 * _TEXT), COLOURS[block.tone])
    elif isinstance(block, ui.Listing):
        yield from _listing(block)
    elif isinstance(block, ui.Pre):
        yield _indented(safe(block.title, _NAME), "dim")
        yield _indented(safe_lines(block.text), by=4)
    elif isinstance(block, ui.Command):
        if block.words:
            yield _indented(safe(block.words, _TEXT))
        yield _indented(whole(block.command), "green", 4)
    elif isinstance(block, ui.Findings):
        yield from _findings(block, detail)
    elif isinstance(block, ui.Table):
        yield from _table(block, detail)
    elif isinstance(block, ui.Chart):
        yield from _chart(block, detail)
    elif isinstance(block, ui.Choice):
        for chart in block.charts:
            yield from _chart(chart, detail)


def _findings(block: ui.Findings, detail: int) -> Iterator[RenderableType]:
    """What is wrong in full; what is only noted in a line each, in full with -v."""
    if not block.findings:
        yield _indented(block.nothing, "green")
    notes = [item for item in block.findings if not detail and item.severity is Severity.NOTE]
    yield from (rich_finding(item, detail) for item in block.findings if item not in notes)
    for item in notes:
        head = (f"note[{item.code}]", "bold cyan")
        yield _indented(Text.assemble(head, f": {safe(item.headline, _TEXT)}"))
    if notes:
        yield _indented("-v shows what to do about notes", "dim")


def _listing(block: ui.Listing) -> Iterator[RenderableType]:
    if block.title:
        yield _indented(safe(block.title, _NAME), "dim")
    for number, item in enumerate(block.items, 1):
        step = f"{number}. " if block.is_numbered else ""
        yield _indented(step + safe(item, _TEXT), by=4 if block.title else 2)


def _table(block: ui.Table, detail: int) -> Iterator[RenderableType]:
    rows = block.rows if detail else block.rows[: block.brief]
    kept = [
        number
        for number in range(len(block.columns))
        if block.columns[number].detail <= detail
        and (any(row[number] not in (None, "") for row in rows) or not rows)
    ]
    columns = [block.columns[number] for number in kept]
    if block.caption:
        yield _indented(safe(block.caption, 200), "dim")
    table = _bare_table()
    table.add_column(width=0)
    for column in columns:
        table.add_column(
            safe(column.title, 60),
            justify="right" if column.kind in ui.NUMBERS else "left",
            overflow="fold" if column.wide or column.kind == "mono" else "ellipsis",
        )
        if column.kind == "bar":
            table.add_column("", width=_BAR)
    table.show_header = any(column.title for column in columns)
    for row in rows:
        table.add_row("", *(cell for number in kept for cell in _cells(block, number, row[number])))
    yield table
    if len(rows) < len(block.rows):
        yield _indented(f"and {len(block.rows) - len(rows):,} more: -v shows all", "dim")


def _cells(block: ui.Table, number: int, value: ui.Cell) -> Iterator[RenderableType]:
    column = block.columns[number]
    text = ui.cell_text(column, value)
    if column.kind == "chip":
        yield Text(text, style=COLOURS.get(column.tones.get(str(value), ""), ""))
        return
    yield Text(text)
    if column.kind == "bar":
        yield Bar(1, 0, ui.bar_share(block, number, value), width=_BAR)


def _chart(block: ui.Chart, detail: int) -> Iterator[RenderableType]:
    """A chart in words; with -v, bytes by operator as bars."""
    yield _indented(safe(block.summary, 2 * _TEXT))
    curve = _curve(block.data)
    if curve:
        yield _indented(curve, "blue")
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


def _bars(data: Any) -> ui.Table | None:
    """The first series of a chart as a table of bars; the most of each row where points share one."""
    series = data.get("series") or ()
    labels = data.get("labels")
    if not series or data.get("y_kind") != "bytes" or labels is None:
        return None
    values = [value or 0 for value in series[0]["values"]]
    size = -(-len(values) // _CHART_ROWS) or 1
    rows: list[Sequence[ui.Cell]] = []
    for start in range(0, len(values), size):
        part = values[start : start + size]
        high = start + part.index(max(part))
        rows.append((str(labels[high]), values[high]))
    title = str(series[0]["name"]) + (f", the most of {size} in a row" if size > 1 else "")
    columns = ui.columns(": mono | : bar")
    return ui.Table("bars", title, columns, rows)


def _grid(rows: Sequence[tuple[str, str, str]]) -> RichTable:
    table = _bare_table()
    table.show_header = False
    for number, style in enumerate(("", "dim", "bold", "dim")):
        table.add_column(width=0 if number == 0 else None, style=style, overflow="fold")
    for row in rows:
        table.add_row("", *(safe(cell, 200) for cell in row))
    return table


def _bare_table() -> RichTable:
    return RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def _indented(text: str | Text, style: str = "", by: int = 2) -> RenderableType:
    """Text whose every line is indented, those that a narrow terminal makes of it too."""
    made = Text(text, style=style) if isinstance(text, str) else text
    return Padding(made, (0, 0, 0, by), expand=False)
