"""Draws the parts of a report as HTML: the same parts that a terminal shows, so both say the same.

Everything that is text is escaped here, whatever it says and wherever it came from.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from outlive.meter import Point
from outlive.names import safe
from outlive.units import format_bytes

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_STYLES = frozenset({"bold", "dim", "italic", "red", "yellow", "green", "cyan", "blue", "magenta"})
_WIDTH, _HEIGHT, _TOP = 560, 90, 14
_MOST_ROWS = 200
_MOST_MARKS = 40
_LETTER = 6  # a letter of a mark's name is about as wide
_BLOCKS = frozenset("█▉▊▋▌▍▎▏")


def parts_html(parts: Iterable[Any]) -> str:
    """The parts of a report, top to bottom: texts as text, tables as tables."""
    return "".join(_part(part) for part in parts)


def details_html(title: str, text: str) -> str:
    """A text that is there for those who open it."""
    return template("details.html").substitute(title=_safe(title), text=_safe(text))


def timeline_html(points: Sequence[Point]) -> str:
    """Memory over time as a small drawing; nothing where there is nothing to see."""
    peak = max((point.bytes for point in points), default=0)
    end = points[-1].seconds if points else 0
    if len(points) < 3 or peak <= 0 or end <= 0:
        return ""
    places = [(_across(point.seconds / end), _down(point.bytes / peak)) for point in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    words = f"{format_bytes(peak)} at most, {end:.2f} s"
    return template("timeline.svg").substitute(
        width=_WIDTH,
        height=_HEIGHT,
        label=escape(f"memory over time: {words}"),
        line=line,
        area=f"{places[0][0]:.1f},{_down(0):.1f} {line} {places[-1][0]:.1f},{_down(0):.1f}",
        marks="".join(_marks(points, end)),
        most=escape(format_bytes(peak)),
        seconds=f"{end:.2f} s",
    )


@functools.cache
def template(name: str) -> Template:
    """A template that ships with the package."""
    text = (files("outlive.jupyter") / "templates" / name).read_text(encoding="utf-8")
    return Template(text.strip())


def _marks(points: Sequence[Point], end: float) -> Iterator[str]:
    """A line where something began, and its name if there is room for it."""
    free = 0.0
    for point in [point for point in points if point.mark][:_MOST_MARKS]:
        x, name = _across(point.seconds / end), _safe(point.mark or "")
        line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_down(0):.1f}"'
        yield f'{line} stroke="currentColor" opacity=".4"/>'
        width = _LETTER * len(point.mark or "")
        start = min(x, _WIDTH - width)
        if start >= free:
            yield f'<text x="{start:.1f}" y="{_HEIGHT - 1}">{name}</text>'
            free = start + width + _LETTER


def _across(share: float) -> float:
    return share * _WIDTH


def _down(share: float) -> float:
    return _HEIGHT - 12 - share * (_HEIGHT - 12 - _TOP)


def _part(part: Any) -> str:
    from rich.table import Table
    from rich.text import Text

    if isinstance(part, Table):
        return _table(part)
    text = part if isinstance(part, Text) else Text(str(part))
    is_title = text.plain.startswith("\n")
    kind = "o-text o-title" if is_title else "o-text"
    return f'<pre class="{kind}">{_spans(text).strip(chr(10))}</pre>' if text.plain.strip() else ""


def _table(table: Table) -> str:
    """A table without lines; one as long as a book is cut, for a page shall stay small."""
    columns = [list(column.cells) for column in table.columns]
    right = [column.justify == "right" for column in table.columns]
    dim = ["dim" in str(column.style) for column in table.columns]
    rows = list(zip(*columns, strict=True))
    drawn = [
        "<tr>" + "".join(_cell(*cell) for cell in zip(row, right, dim, strict=True)) + "</tr>"
        for row in rows[:_MOST_ROWS]
    ]
    if len(rows) > _MOST_ROWS:
        drawn.append(f'<tr><td class="o-dim">and {len(rows) - _MOST_ROWS} more</td></tr>')
    return f"<table>{''.join(drawn)}</table>"


def _cell(content: Any, to_the_right: bool, dim: bool) -> str:
    from rich.text import Text

    text = content if isinstance(content, Text) else Text(str(content))
    is_bar = bool(text.plain.strip()) and set(text.plain.strip()) <= _BLOCKS
    classes = " ".join(["o-right"] * to_the_right + ["o-dim"] * dim + ["o-blue"] * is_bar)
    return f'<td class="{classes}">{_spans(text)}</td>' if classes else f"<td>{_spans(text)}</td>"


def _safe(text: str) -> str:
    """Text for a page: no markup, and no characters that hide or turn around what stands beside them."""
    return escape("\n".join(safe(line.expandtabs(4)) for line in text.split("\n")))


def _spans(text: Text) -> str:
    """Styled pieces of a text; styles may overlap, so it is cut where any of them begins or ends."""
    cuts = {0, len(text.plain)}
    cuts.update(edge for span in text.spans for edge in (span.start, span.end))
    edges = sorted(edge for edge in cuts if 0 <= edge <= len(text.plain))
    pieces = []
    for start, end in itertools.pairwise(edges):
        styles = [str(text.style)] + [
            str(span.style) for span in text.spans if span.start <= start < span.end
        ]
        words = sorted({word for style in styles for word in style.split()} & _STYLES)
        piece = _safe(text.plain[start:end])
        classes = " ".join(f"o-{word}" for word in words)
        pieces.append(f'<span class="{classes}">{piece}</span>' if words else piece)
    return "".join(pieces)
