"""The picture of the memory of a block of code: a curve, and its marks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from outlive.meter import Timeline
from outlive.names import safe
from outlive.rendering.picture import HEIGHT, PALE, WIDTH, LineMark, Mark, TextMark, write_picture
from outlive.units import format_bytes

_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 30, 50, 60
_CURVE = "#4e79a7"


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
        axes.axvline(point.seconds, color=PALE)
        axes.annotate(safe(point.mark or "", 24), (point.seconds, point.bytes / 1e6), rotation=90, fontsize=8)
    axes.set_xlabel("seconds")
    axes.set_ylabel("MB above the start")
    return figure


def _marks(timeline: Timeline) -> Iterator[Mark]:
    points = timeline.points
    yield TextMark(
        _LEFT, 30, f"memory of this block: {format_bytes(max(0, timeline.peak_bytes))} at most", 16
    )
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
        yield LineMark(_LEFT, y, WIDTH - _RIGHT, y, PALE)
        yield TextMark(_LEFT - 8, y + 4, _signed(size), 11, anchor="end")
    for point in timeline.marks:
        x, _ = place(point.seconds, 0)
        yield LineMark(x, _TOP, x, _TOP + tall, PALE)
        yield TextMark(x, _TOP + tall + 18, safe(point.mark or "", 24), 11, anchor="middle")
    for one, other in pairwise(points):
        yield LineMark(*place(one.seconds, one.bytes), *place(other.seconds, other.bytes), _CURVE)
