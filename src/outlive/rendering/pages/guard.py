"""The end of a script: its exit code or its death, and the memory it took."""

from __future__ import annotations

from outlive.guarding.script import ScriptEnd
from outlive.rendering import page as ui
from outlive.rendering.pages.run import memory_chart
from outlive.units import format_bytes


def page(end: ScriptEnd) -> ui.Page:
    """The page of `outlive guard`."""
    flight = end.flight
    word = "crashed" if end.exit_code is None else f"ended with exit code {end.exit_code}"
    tone: ui.Tone = "good" if end.exit_code == 0 else "bad" if end.exit_code is None else "warn"
    took = sum(seconds for _, seconds in flight.stages)
    peak = max([flight.peak_bytes or 0, *(point.bytes for point in flight.timeline)])
    sentence = f"Peak memory {format_bytes(peak)} above the start, in {took:,.2f} s."
    sections = ui.findings_sections(end.findings)
    if len(flight.timeline) > 2:
        sections.append(ui.Section("memory", "Memory", (memory_chart(flight, None),)))
    verdict = ui.PageVerdict(tone, word, sentence)
    return ui.make_page("guard", end.script, verdict, (), sections)
