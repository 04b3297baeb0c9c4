"""The memory of a block of code for people: its marks, and a line of bars over time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from outlive.meter import Timeline
from outlive.names import safe
from outlive.rendering.console import print_parts
from outlive.rendering.flight_text import _timeline as timeline_text
from outlive.rendering.model_text import grid, heading
from outlive.rendering.plan_drawing import HEIGHT, WIDTH, Label, Line, Mark
from outlive.rendering.plan_plot import write_picture
from outlive.units import format_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType

_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 30, 50, 60
_INK, _PALE, _CURVE = "#222222", "#d8d8d8", "#4e79a7"
_MOST_MARKS = 20


def show_watch(timeline: Timeline) -> None:
    """Print what a block of code did to the memory of this process."""
    print_parts(watch_text(timeline), sys.stdout)


def watch_text(timeline: Timeline) -> Iterator[RenderableType]:
    """The parts of the report, top to bottom."""
    yield heading("memory of this block", "private memory above what the process held before it")
    table = grid("left", "right", "right")
    for point in timeline.marks[-_MOST_MARKS:]:
        table.add_row("", safe(point.mark or "", 48), f"{point.seconds:,.3f} s", _signed(point.bytes))
    table.add_row("", "peak", "", format_bytes(max(0, timeline.peak_bytes)))
    yield table
    yield from timeline_text(timeline.points)


def _signed(size: int) -> str:
    return format_bytes(size) if size >= 0 else f"-{format_bytes(-size)}"


def draw_watch(timeline: Timeline, path: str | None) -> Any:
    """Write the curve to an .svg file, or a .png through matplotlib; without a path, matplotlib's figure."""
    if path is None:
        return _figure(timeline)
    write_picture(_marks(timeline), path)
    return None


def _figure(timeline: Timeline) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a figure needs matplotlib: pip install 'outlive[plot]'") from None
    figure = Figure(figsize=(9, 4))
    axes = figure.add_subplot()
    axes.plot([point.seconds for point in timeline.points], [point.bytes / 1e6 for point in timeline.points])
    for point in timeline.marks:
        axes.axvline(point.seconds, color=_PALE)
        axes.annotate(safe(point.mark or "", 24), (point.seconds, point.bytes / 1e6), rotation=90, fontsize=8)
    axes.set_xlabel("seconds")
    axes.set_ylabel("MB above the start")
    return figure


def _marks(timeline: Timeline) -> Iterator[Mark]:
    points = timeline.points
    yield Label(_LEFT, 30, f"memory of this block: {format_bytes(max(0, timeline.peak_bytes))} at most", 16)
    if len(points) < 2:
        return
    end = points[-1].seconds or 1.0
    low, high = min(0, *(point.bytes for point in points)), max(1, timeline.peak_bytes)
    across, tall = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def place(seconds: float, size: int) -> tuple[float, float]:
        return _LEFT + across * seconds / end, _TOP + tall * (1 - (size - low) / (high - low))

    for quarter in range(5):
        size = low + (high - low) * quarter // 4
        _, y = place(0, size)
        yield Line(_LEFT, y, WIDTH - _RIGHT, y, _PALE)
        yield Label(_LEFT - 8, y + 4, _signed(size), 11, anchor="end")
    for point in timeline.marks:
        x, _ = place(point.seconds, 0)
        yield Line(x, _TOP, x, _TOP + tall, _PALE)
        yield Label(x, _TOP + tall + 18, safe(point.mark or "", 24), 11, anchor="middle")
    for one, other in pairwise(points):
        yield Line(*place(one.seconds, one.bytes), *place(other.seconds, other.bytes), _CURVE)
