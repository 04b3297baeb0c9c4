"""The memory of a block of code: its peak, and its marks."""

from __future__ import annotations

from outlive.meter import Timeline
from outlive.rendering.page import Block, Column, Page, PageVerdict, Section, Table
from outlive.rendering.pages.run import timeline_chart
from outlive.units import format_bytes

_MOST_MARKS = 20


def page(timeline: Timeline) -> Page:
    """The page of `outlive.watch()`."""
    rows = [(point.mark, f"{point.seconds:,.3f} s", point.bytes) for point in timeline.marks[-_MOST_MARKS:]]
    columns = (Column(title="mark"), Column(title="after"), Column(title="memory then", kind="bytes"))
    caption = "Private memory above what the process held before it"
    table = Table(id="marks", caption=caption, columns=columns, rows=rows, brief=_MOST_MARKS)
    blocks: list[Block] = [timeline_chart(timeline.points)] if len(timeline.points) > 2 else []
    word = f"{format_bytes(max(0, timeline.peak_bytes))} at most"
    return Page(
        title="memory of this block",
        kind="watch",
        verdict=PageVerdict(tone="plain", word=word),
        sections=(Section(id="marks", title="Marks", blocks=(*blocks, table)),),
    )
