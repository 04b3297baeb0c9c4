"""A page on a terminal: the verdict first, then what decides; more of it with -v.

Findings are drawn by `finding_text`. Names are escaped here, and once more where lines are printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from rich.bar import Bar
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Column as RichColumn
from rich.table import Table as RichTable
from rich.text import Text

from outlive.finding import Finding, Severity
from outlive.names import safe, safe_lines, whole
from outlive.rendering import page as ui
from outlive.rendering.finding_text import Line, Wrapped, brief_line, count_findings, rich_finding

COLOURS = {"good": "green", "warn": "yellow", "bad": "red", "plain": ""}
MARKS = {"good": "✓", "warn": "!", "bad": "✗"}
_TEXT = 600
_MOST_IN_FULL = 2
_NAME = 160
_SHORT = 60
_BAR = 16
_CURVE = 48
_EIGHTHS = " ▁▂▃▄▅▆▇█"
# A chart in words has so many rows at most; neighbours share one where there are more points.
_CHART_ROWS = 24
# Between columns; how short a column of names may get, and one of words before it goes below its row.
_GAP, _LEAST_NAME, _LEAST_WORDS = 2, 28, 24


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
        blocks += [replace(block, findings=left, is_brief=True)] if left else []
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
    """What is wrong in full, the first where it is much; the rest in a line each, in full with -v."""
    if not block.findings:
        yield _indented(block.nothing, "green")
    notes = [item for item in block.findings if item.severity is Severity.NOTE]
    faults = [item for item in block.findings if item not in notes]
    full = [] if block.is_brief else faults if len(faults) <= _MOST_IN_FULL else faults[:1]
    full = list(block.findings) if detail else full
    yield from (rich_finding(item, detail) for item in full)
    brief = [item for item in (*faults, *notes) if item not in full]
    for item in brief:
        yield Wrapped([brief_line(item)])
    if brief:
        rest = "notes" if brief[0] in notes else "the others"
        yield _indented(f"-v shows what to do about {rest}", "dim")


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
            no_wrap=column.kind == "mono",
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
    return _WordTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")


class _WordTable(RichTable):
    """A table without lines whose cells break between words only; its first column, empty, is the indent.

    Where there is no room, bars are left out; then a column of words stands below its row; then each row is a
    paragraph. Names longer than a column may be are folded.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The rows, in the width that the terminal has."""
        columns, below, widths = _layout(self.columns, options.max_width)
        if self.show_header and widths:
            heads = [Text(str(column.header), "dim") for column in columns]
            yield from _row_lines(columns, heads, widths, console, is_head=True)
        cells = [list(column.cells) for column in columns]
        further = list(below.cells) if below is not None else [""] * self.row_count
        for number in range(self.row_count):
            row = [column[number] for column in cells]
            if not widths:
                yield from _paragraph(columns, row, console, options.max_width)
                continue
            yield from _row_lines(columns, row, widths, console)
            if text := _cell(further[number], console):
                yield from _hanging(text, console, options.max_width, _start_of_words(columns, widths) + _GAP)


def _layout(
    columns: Sequence[RichColumn], width: int
) -> tuple[Sequence[RichColumn], RichColumn | None, list[int]]:
    """The columns to draw beside each other, the one that goes below, and their widths: none if none fit."""
    if sum(map(_natural, columns)) + _GAP * (len(columns) - 1) > width:
        columns = [column for column in columns if column.width != _BAR]
    widths = _widths(columns, width)
    words = next((column for column in reversed(columns) if _is_words(column)), None)
    if words is None or (widths and widths[columns.index(words)] >= min(_LEAST_WORDS, _natural(words))):
        return columns, None, widths
    others = [column for column in columns if column is not words]
    narrower = _widths(others, width)
    return (others, words, narrower) if narrower else (columns, None, widths)


def _start_of_words(columns: Sequence[RichColumn], widths: list[int]) -> int:
    """Where the first column of words begins, behind marks and figures."""
    start = 0
    for column, width in zip(columns, widths, strict=False):
        if column.justify == "left" and width > _GAP:
            break
        start += width + _GAP
    return start


def _row_lines(
    columns: Sequence[RichColumn],
    cells: Sequence[RenderableType],
    widths: list[int],
    console: Console,
    is_head: bool = False,
) -> Iterator[Text]:
    """One row in as many lines as its longest cell needs; a head stands at the bottom of them."""
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=False):
        text = _cell(cell, console)
        text.stylize_before(column.style)
        lines = list(text.wrap(console, max(width, 1), justify=column.justify))
        parts.append(lines[::-1] if is_head else lines)
    rows = list(zip_longest(*parts))
    for row in rows[::-1] if is_head else rows:
        line = Text(no_wrap=True, overflow="ignore")
        for column, found, width in zip(columns, row, widths, strict=False):
            part = found or Text()
            part.rstrip()
            blank = " " * (width - part.cell_len)
            line += Text(blank) + part if column.justify == "right" else part + Text(blank)
            line.append(" " * _GAP)
        line.rstrip()
        yield line


def _paragraph(
    columns: Sequence[RichColumn], row: Sequence[RenderableType], console: Console, width: int
) -> Iterator[Text]:
    """A row as running text, each cell with the title of its column."""
    said = Text()
    for column, cell in zip(columns, row, strict=True):
        text = _cell(cell, console)
        if text and not isinstance(cell, Bar):
            title = f"{column.header} " if column.header and (said or column.justify == "right") else ""
            said = Text.assemble(said, " · " if said else "", (title, "dim"), text)
    yield from _hanging(said, console, width, _GAP, 2 * _GAP)


def _hanging(text: Text, console: Console, width: int, indent: int, hang: int = 0) -> Iterator[Text]:
    """Text of which each line is indented, and those that follow the first as far as `hang`."""
    hang = max(indent, hang)
    for number, line in enumerate(text.wrap(console, width - hang)):
        line.rstrip()
        before = " " * (hang if number else indent)
        yield Text.assemble(before, line, no_wrap=True, overflow="ignore")


def _widths(columns: Sequence[RichColumn], width: int) -> list[int]:
    """How wide each column is: at least as its longest word; the short ones as their longest cell first.

    Nothing where there is no room for that.
    """
    natural = [_natural(column) for column in columns]
    room = width - _GAP * (len(columns) - 1)
    if sum(natural) <= room:
        return natural
    widths = [_least(column) for column in columns]
    if sum(widths) > room:
        return []
    for _ in range(room - sum(widths)):
        short = [number for number, width in enumerate(widths) if width < natural[number]]
        widths[min(short, key=lambda number: natural[number])] += 1
    return widths


def _natural(column: RichColumn) -> int:
    return max(map(cell_len, _texts(column)), default=0) if column.width is None else column.width


def _least(column: RichColumn) -> int:
    """The longest word of a column; the longest cell of a column of figures, which stay with their units."""
    if column.width is not None:
        return column.width
    head = [*str(column.header).split()]
    whole_cells = list(map(str, column.cells)) if column.justify == "right" else []
    longest = max(map(cell_len, head + (whole_cells or " ".join(_texts(column)).split())), default=0)
    return min(longest, _LEAST_NAME) if column.overflow == "fold" else longest


def _texts(column: RichColumn) -> Iterator[str]:
    yield str(column.header)
    yield from (str(cell) for cell in column.cells if isinstance(cell, (str, Text)))


def _is_words(column: RichColumn) -> bool:
    return column.overflow == "fold" and column.justify == "left" and not column.no_wrap


def _cell(cell: RenderableType, console: Console) -> Text:
    """A cell as text; a bar as its blocks."""
    if isinstance(cell, Text):
        return cell.copy()
    if isinstance(cell, str):
        return Text(cell)
    segments = console.render(cell, console.options.update_width(_BAR))
    return Text.assemble(*((part.text.rstrip("\n"), part.style or "") for part in segments))


def _indented(text: str | Text, style: str = "", by: int = 2) -> RenderableType:
    """Text whose every line is indented, those that a narrow terminal makes of it too."""
    made = Text(text, style=style) if isinstance(text, str) else text
    return Padding(made, (0, 0, 0, by), expand=False)
