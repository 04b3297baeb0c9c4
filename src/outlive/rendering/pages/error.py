"""An error that was caught, or that a notebook shows: its findings, the memory until then, its last words."""

from __future__ import annotations

import traceback
from typing import Any

from outlive.rendering.page import Block, Page, PageVerdict, Pre, Section, findings_sections
from outlive.rendering.pages.run import memory_chart

_MOST_TEXT = 20_000


def error_page(error: Any) -> Page:
    """The page of an error that carries findings; `error.flight` is the run it ended, if there was one."""
    flight = getattr(error, "flight", None)
    blocks: list[Block] = []
    if flight is not None and len(flight.timeline) > 2:
        blocks.append(memory_chart(flight, None))
    texts = (
        ("Standard error", getattr(flight, "stderr_tail", "")),
        ("Traceback", "".join(traceback.format_exception(error))),
    )
    blocks += [Pre(title=title, text=text[-_MOST_TEXT:]) for title, text in texts if text.strip()]
    sections = findings_sections(error.findings, "Why")
    sections.append(Section(id="more", title="What was seen", blocks=tuple(blocks), detail=1))
    verdict = PageVerdict(tone="bad", word=error.finding.headline)
    return Page(title=type(error).__name__, kind="error", verdict=verdict, sections=tuple(sections))
