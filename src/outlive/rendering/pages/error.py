"""An error that was caught, or that a notebook shows: its findings, the memory until then, its last words."""

from __future__ import annotations

import traceback
from typing import Any

from outlive.rendering import page as ui
from outlive.rendering.pages.run import memory_chart

_MOST_TEXT = 20_000


def error_page(error: Any) -> ui.Page:
    """The page of an error that carries findings; `error.flight` is the run it ended, if there was one."""
    flight = getattr(error, "flight", None)
    blocks: list[ui.Block] = []
    if flight is not None and len(flight.timeline) > 2:
        blocks.append(memory_chart(flight, None))
    texts = (
        ("Standard error", getattr(flight, "stderr_tail", "")),
        ("Traceback", "".join(traceback.format_exception(error))),
    )
    blocks += [ui.Pre(title, text[-_MOST_TEXT:]) for title, text in texts if text.strip()]
    sections = ui.findings_sections(error.findings, "Why")
    sections.append(ui.Section("more", "Run", tuple(blocks), detail=1))
    verdict = ui.PageVerdict("bad", error.finding.headline)
    return ui.Page(title=type(error).__name__, kind="error", verdict=verdict, sections=tuple(sections))
