"""A chart as a drawing that needs no script: the marks of its curves, boxes or points, between two axes.

    y name                 moments
      4 MiB ┤   ╭──╮  ┊
            │ ╭─╯  ╰──┊──   curves, bars, boxes or points
          0 ┼─────────┊───
            0  10  20  30   x name

Colours are variables of the style around it, so that a drawing follows a dark theme. Text is made safe here,
and escaped where it becomes SVG.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from outlive.names import safe
from outlive.rendering.page import Chart
from outlive.rendering.picture import CurveMark, DotMark, LineMark, Mark, RectMark, TextMark, svg_elements
from outlive.units import format_bytes

WIDTH = 660
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 14, 32, 34
# The name of the y axis is above the names of moments.
_NAME_LINE, _MOMENT_LINE = 12, 27
_HEIGHTS = {"lines": 200, "map": 230, "points": 220}
_LETTER = 6.2  # a letter of a label is about as wide
_MOST_BARS, _MOST_PLACES, _MOST_BOXES, _MOST_MOMENTS = 200, 300, 100, 40
_DIM, _GRID, _BAD = "var(--o-dim)", "var(--o-line)", "var(--o-bad)"
_WHOLE = ("op", "rounds", "none")
Pair = tuple[float, float]


def chart_svg(chart: Chart) -> str:
    """The chart as an SVG element; empty where there is nothing to see."""
    kind = str(chart.data.get("kind"))
    ends = _ENDS[kind](chart.data)
    if ends is None:
        return ""
    frame = _Frame(*ends, _HEIGHTS[kind])
    marks = (*_axes(chart.data, frame), *_INSIDE[kind](chart.data, frame))
    size = f"viewBox='0 0 {WIDTH} {frame.height}' width='{WIDTH}' height='{frame.height}'"
    label = escape(safe(chart.title, 120), quote=True)
    return f"<svg {size} role='img' aria-label='{label}'>{''.join(svg_elements(marks))}</svg>"


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where values lie on the drawing: from x0 to x1 across, from y0 to y1 up."""

    x0: float
    x1: float
    y0: float
    y1: float
    height: int

    @property
    def bottom(self) -> float:
        return self.height - _BOTTOM

    @property
    def right(self) -> float:
        return WIDTH - _RIGHT

    def across(self, x: float) -> float:
        return _LEFT + (x - self.x0) / (self.x1 - self.x0) * (self.right - _LEFT)

    def up(self, y: float) -> float:
        return self.bottom - (y - self.y0) / (self.y1 - self.y0) * (self.bottom - _TOP)

    def place(self, x: float, y: float) -> Pair:
        return self.across(x), self.up(y)


def _line_ends(data: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    """None for a line of fewer than three points, and where all is zero."""
    places, series = data["x"], data["series"]
    values = [value for one in series for value in one["values"] if value is not None]
    bars = any(one["style"] == "bars" for one in series)
    if not any(values) or len(places) < (1 if bars else 3):
        return None
    most = max(0.0, *values, *(level["y"] for level in data.get("levels") or ()))
    least = min(0.0, *values)
    half = 0.5 if bars else 0.0
    low, high = min(places) - half, max(places) + half
    return None if high <= low else (low, high, least, most + (most - least) * 0.16)


def _map_ends(data: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    return (*data["x_span"], 0.0, data["most"]) if data["most"] else None


def _point_ends(data: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    points = data["points"]
    across = [one["x"] for one in (*points, *data.get("moments", ()))]
    if not points:
        return None
    low, high = _widened([one["y"] for one in points], 0.15)
    return (*_widened(across, 0.08), 0.0 if min(one["y"] for one in points) >= 0 else low, high)


def _widened(values: Sequence[float], share: float) -> Pair:
    low, high = min(values), max(values)
    room = (high - low or abs(high) or 1.0) * share
    return low - room, high + room


def _axes(data: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    """Lines across with their amounts, places along the bottom, and the names of both axes."""
    for value in _ticks(frame.y0, frame.y1, 4, data["y_kind"]):
        y = frame.up(value)
        yield LineMark(_LEFT, y, frame.right, y, _GRID)
        yield TextMark(_LEFT - 6, y + 4, _amount(data["y_kind"], value), 11, "end", _DIM)
    names = data.get("x_labels")
    for value in _ticks(frame.x0, frame.x1, 8, data["x_kind"]) if data["x_kind"] != "none" or names else ():
        words = _label(names, value) if names else _amount(data["x_kind"], value)
        yield TextMark(frame.across(value), frame.bottom + 14, words, 11, "middle", _DIM)
    yield TextMark(frame.right, frame.height - 5, safe(str(data["x_name"]), 60), 11, "end", _DIM)
    yield TextMark(2, _NAME_LINE, safe(str(data["y_name"]), 60), 11, "start", _DIM)


def _label(names: Sequence[str], value: float) -> str:
    return safe(names[int(value)], 14) if 0 <= value < len(names) else ""


def _ticks(low: float, high: float, count: int, kind: str) -> list[float]:
    """Round values between two ends: sizes by powers of two, operators and rounds whole."""
    least = (high - low) / count
    if kind == "bytes":
        step = 2.0 ** math.ceil(math.log2(max(least, 1)))
    else:
        power = 10.0 ** math.floor(math.log10(least))
        step = next(size * power for size in (1, 2, 5, 10) if size * power >= least * 0.999)
        step = max(step, 1.0) if kind in _WHOLE else step
    first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


def _amount(kind: str, value: float) -> str:
    if kind == "bytes":
        return format_bytes(round(value)) if value >= 0 else f"-{format_bytes(round(-value))}"
    if kind == "share":
        return f"{value:.0%}" if abs(value) >= 0.1 or not value else f"{value:.2%}"
    if kind == "seconds":
        return f"{value * 1000:,.4g} ms" if value < 1 else f"{value:,.4g} s"
    said = f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
    return f"{said} dB" if kind == "decibels" else said


def _tone(tone: str) -> str:
    """A colour of the card: ten of their own, by number, and those of verdicts."""
    return f"var(--o-c{tone})" if tone.isdigit() else f"var(--o-{tone})"


def _lines(data: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    for shade in data.get("shades") or ():
        x, end = (frame.across(max(frame.x0, min(shade[side], frame.x1))) for side in ("start", "end"))
        yield RectMark(x, _TOP, end - x, frame.bottom - _TOP, "var(--o-soft)")
    for one in data["series"]:
        draw = _bars if one["style"] == "bars" else _curve
        yield from draw(data, one, frame)
    yield from _moments(data, frame)
    for level in data.get("levels") or ():
        y = frame.up(level["y"])
        yield CurveMark(((_LEFT, y), (frame.right, y)), _DIM, is_dashed=True)
        yield TextMark(frame.right, y - 4, safe(level["name"], 60), 11, "end", _DIM)
    worst = data.get("worst")
    if worst:
        yield DotMark(*frame.place(worst["x"], worst["y"]), 4, _BAD)
        yield _above(frame, worst["x"], frame.up(worst["y"]) - 8, worst["name"])


def _bars(data: Mapping[str, Any], one: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    """A bar at each place; the highest of several where there are too many to be seen."""
    rows = [(x, value) for x, value in zip(data["x"], one["values"], strict=True) if value]
    size = -(-len(rows) // _MOST_BARS)
    highest = [max(rows[at : at + size], key=lambda row: row[1]) for at in range(0, len(rows), size or 1)]
    wide = min(48.0, max(1.0, 0.86 * size * (frame.across(1) - frame.across(0))))
    labels = data.get("labels")
    for x, value in highest:
        top, bottom = sorted((frame.up(value), frame.up(0)))
        said = _amount(one.get("unit") or data["y_kind"], value)
        words = f"{safe(labels[data['x'].index(x)], 90)}: {said}" if labels else said
        yield RectMark(frame.across(x) - wide / 2, top, wide, bottom - top, _tone(one["tone"]), words)


def _curve(data: Mapping[str, Any], one: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    """Lines between the gaps; a value between two gaps is a dot."""
    colour, is_area = _tone(one["tone"]), one["style"] == "area"
    for run in _runs(data["x"], one["values"]):
        kept = run[:: max(1, len(run) // _MOST_PLACES)]
        kept = kept if kept[-1] == run[-1] else [*kept, run[-1]]
        points = tuple(frame.place(*pair) for pair in kept)
        if len(points) == 1:
            yield DotMark(*points[0], 2, colour)
        elif is_area:
            ends = ((points[-1][0], frame.up(0)), (points[0][0], frame.up(0)))
            yield CurveMark((*points, *ends), "none", fill=colour)
        yield CurveMark(points, colour, is_dashed=one["style"] == "dash")


def _runs(places: Sequence[float], values: Sequence[float | None]) -> list[list[Pair]]:
    runs: list[list[Pair]] = [[]]
    for place, value in zip(places, values, strict=True):
        if value is not None:
            runs[-1].append((place, value))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _moments(data: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    """A line at each moment, and its name where there is room for it."""
    free = 0.0
    for moment in (data.get("moments") or ())[:_MOST_MOMENTS]:
        x, name = frame.across(moment["x"]), safe(str(moment["name"]), 40)
        yield CurveMark(((x, _TOP), (x, frame.bottom)), _DIM, is_dashed=True)
        start = min(x - _LETTER * len(name) / 2, frame.right - _LETTER * len(name))
        if start > free:
            yield TextMark(start, _MOMENT_LINE, name, 11, "start", _DIM)
            free = start + _LETTER * (len(name) + 1)


def _above(frame: _Frame, x: float, y: float, name: str) -> Mark:
    """Words in the middle of x, moved where they would leave the drawing."""
    text = safe(name, 60)
    half = _LETTER * len(text) / 2
    middle = min(max(frame.across(x), _LEFT + half), frame.right - half)
    return TextMark(middle, max(y, _MOMENT_LINE), text, 11, "middle", _BAD)


def _map(data: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    boxes = data["boxes"]
    rows = zip(*(boxes[name] for name in ("x0", "x1", "y0", "y1", "tone", "name", "life")), strict=True)
    for x0, x1, y0, y1, tone, name, life in list(rows)[:_MOST_BOXES]:  # the largest come first
        (left, bottom), (right, top) = frame.place(x0, y0), frame.place(x1, y1)
        words = f"{safe(name, 60)}: {format_bytes(y1 - y0)}, {safe(life, 60)}"
        wide, tall = max(1.0, right - left), max(1.0, bottom - top)
        yield RectMark(left, top, wide, tall, _tone(tone), words, outline=True)
        room = int(wide / _LETTER) - 1
        if tall >= 13 and room >= 6:
            yield TextMark(left + 4, top + tall / 2 + 4, safe(name, room), 10, colour="#ffffff")
    x = frame.across(data["worst"]["x"])
    yield CurveMark(((x, _TOP), (x, frame.bottom)), _BAD, is_dashed=True)
    yield _above(frame, data["worst"]["x"], _MOMENT_LINE, data["worst"]["name"])


def _points(data: Mapping[str, Any], frame: _Frame) -> Iterator[Mark]:
    yield from _moments(data, frame)
    front = sorted((one["x"], one["y"]) for one in data["points"] if one["front"])
    steps = [pair for at, (x, y) in enumerate(front) for pair in ((x, front[max(0, at - 1)][1]), (x, y))]
    yield CurveMark(tuple(frame.place(*pair) for pair in steps), "var(--o-c0)")
    for one in data["points"]:
        words = "; ".join((one["name"], *one.get("words", ())))
        x, y = frame.place(one["x"], one["y"])
        yield DotMark(x, y, 7 if one["chosen"] else 4, _tone(one["tone"]), safe(words, 200))
        if one["chosen"]:
            half = _LETTER * len(one["name"]) / 2
            middle = min(max(x, _LEFT + half), frame.right - half)
            yield TextMark(middle, y - 11, safe(one["name"], 80), 11, "middle", "currentColor")


_ENDS: Mapping[str, Callable[[Mapping[str, Any]], tuple[float, float, float, float] | None]] = {
    "lines": _line_ends, "map": _map_ends, "points": _point_ends,
}  # fmt: skip
_INSIDE: Mapping[str, Callable[[Mapping[str, Any], _Frame], Iterator[Mark]]] = {
    "lines": _lines, "map": _map, "points": _points,
}  # fmt: skip
