"""The memory of a block of code: its peak, and its marks."""

from __future__ import annotations

from outlive.meter import Timeline
from outlive.rendering import page as ui
from outlive.rendering.pages.run import timeline_chart
from outlive.units import format_bytes

_MOST_MARKS = 20


def page(timeline: Timeline) -> ui.Page:
    """The page of `outlive.watch()`."""
    rows = [(point.mark, f"{point.seconds:,.3f} s", point.bytes) for point in timeline.marks[-_MOST_MARKS:]]
    columns = ui.columns("mark | after | memory then: bytes")
    caption = "Private memory above the start"
    table = ui.Table("marks", caption, columns, rows, brief=_MOST_MARKS)
    blocks: list[ui.Block] = [timeline_chart(timeline.points)] if len(timeline.points) > 2 else []
    word = f"{format_bytes(max(0, timeline.peak_bytes))} peak"
    return ui.Page(
        title="memory of this block",
        kind="watch",
        verdict=ui.PageVerdict("plain", word),
        sections=(ui.Section("marks", "Marks", (*blocks, table)),),
    )
