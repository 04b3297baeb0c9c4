"""A page as a card below a notebook's cell: one element with its own style, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from outlive.names import safe
from outlive.rendering.media.html import templates
from outlive.rendering.page import NUMBERS
from outlive.units import format_bytes

if TYPE_CHECKING:
    from markupsafe import Markup

    from outlive.rendering.page import Chart, Column, Page

_MOST_ROWS = 200
_WIDTH, _HEIGHT, _TOP, _FOOT = 560, 90, 14, 12
_MOST_MARKS = 40
_LETTER = 6  # a letter of a mark's name is about as wide


def card_html(page: Page) -> str:
    """The card: verdict first, evidence folded."""
    from markupsafe import Markup

    style = files("outlive.rendering").joinpath("web/assets/card.css").read_text("utf-8")
    made = templates().get_template("card.html.j2")
    return made.render(page=page, style=Markup(style), most_rows=_MOST_ROWS, side=_side, curve=_curve)


def card_bundle(page: Page) -> dict[str, str]:
    """The card and the same as plain text, by media type: a front end takes what it can show."""
    import io

    from outlive.rendering.console import print_parts
    from outlive.rendering.media.text import draw_text

    text = io.StringIO()
    print_parts(draw_text(page), text)
    return {"text/html": card_html(page), "text/plain": text.getvalue().strip("\n")}


def _side(column: Column) -> str:
    return "o-right" if column.kind in NUMBERS else ""


def _curve(chart: Chart) -> Markup:
    """A chart of bytes as a small drawing; nothing where there is nothing to see."""
    from markupsafe import Markup

    data = chart.data
    series = data.get("series") or ()
    if data.get("kind") != "lines" or data.get("y_kind") != "bytes" or not series:
        return Markup()
    values = [float(value or 0) for value in series[0]["values"]]
    places = [float(place) for place in data.get("x") or ()]
    most, end = max(values, default=0.0), places[-1] if places else 0.0
    if len(values) < 3 or most <= 0 or end <= 0:
        return Markup()
    pairs = zip(places, values, strict=True)
    points = [(place / end * _WIDTH, _down(value / most)) for place, value in pairs]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    label = escape(safe(f"{chart.title}: at most {format_bytes(round(most))}"))
    return Markup(
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{label}">'
        f'<polygon points="{points[0][0]:.1f},{_down(0):.1f} {line} {points[-1][0]:.1f},{_down(0):.1f}" '
        'fill="currentColor" opacity=".15"/>'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        f"{''.join(_marks(data.get('moments') or (), end))}"
        f'<text x="0" y="10">{escape(format_bytes(round(most)))}</text></svg>'
    )


def _down(share: float) -> float:
    return _HEIGHT - _FOOT - share * (_HEIGHT - _FOOT - _TOP)


def _marks(moments: Sequence[Any], end: float) -> Iterator[str]:
    """A line at each moment, and its name where there is room for it."""
    free = 0.0
    for moment in moments[:_MOST_MARKS]:
        x, name = float(moment["x"]) / end * _WIDTH, safe(str(moment["name"]), 60)
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_down(0):.1f}" '
            'stroke="currentColor" opacity=".4"/>'
        )
        start = min(x, _WIDTH - _LETTER * len(name))
        if start >= free:
            yield f'<text x="{start:.1f}" y="{_HEIGHT - 1}">{escape(name)}</text>'
            free = start + _LETTER * (len(name) + 1)
