"""A card: what is shown of a thing in a notebook, as HTML and as plain text."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from outlive.finding import Finding, Severity
from outlive.jupyter.drawing import details_html, parts_html, template, timeline_html
from outlive.meter import Point
from outlive.rendering.console import print_parts

# How a card is edged, by what it tells.
GOOD, BAD, ODD, PLAIN = "o-good", "o-bad", "o-odd", "o-plain"
# A stack or a log in a card; all of it is in the object itself.
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The parts of a report, made when they are asked for; a timeline; and texts to open."""

    label: str
    parts: Callable[[], Iterable[Any]]
    tone: str = PLAIN
    timeline: tuple[Point, ...] = ()
    details: tuple[tuple[str, str], ...] = ()

    def html(self) -> str:
        """The card for a page: one element, its style with it, nothing fetched."""
        opened = "".join(
            details_html(title, text[-_MOST_TEXT:]) for title, text in self.details if text.strip()
        )
        return template("card.html").substitute(
            tone=self.tone,
            label=escape(self.label),
            style=template("card.css").template,
            body=parts_html(self.parts()) + timeline_html(self.timeline) + opened,
        )

    def plain(self) -> str:
        """The same parts as text."""
        text = io.StringIO()
        print_parts(self.parts(), text)
        return text.getvalue().strip("\n")

    def bundle(self) -> dict[str, str]:
        """Both, by media type: a front end takes what it can show."""
        return {"text/html": self.html(), "text/plain": self.plain()}


def findings_parts(findings: Iterable[Finding]) -> Iterator[Any]:
    """Findings one below the other, and how many there are."""
    from rich.text import Text

    from outlive.rendering.finding_text import count_findings, rich_finding

    told = tuple(findings)
    yield Text(f"findings: {count_findings(told)}", style="bold")
    yield from (rich_finding(finding) for finding in told)


def finding_tone(findings: Iterable[Finding]) -> str:
    """The edge for some findings: that of the worst."""
    found = {finding.severity for finding in findings}
    return BAD if Severity.ERROR in found else ODD if Severity.WARNING in found else GOOD
