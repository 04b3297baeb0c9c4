"""Findings on their own, where a program or a notebook shows them: one, or those of a judgement."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.finding import Finding
from outlive.rendering.finding_text import count_findings
from outlive.rendering.page import Page, PageVerdict, findings_sections, worst_tone


def findings_page(findings: Sequence[Finding]) -> Page:
    """The page of some findings."""
    verdict = PageVerdict(tone=worst_tone(findings), word=count_findings(findings))
    sections = tuple(findings_sections(findings))
    return Page(title="Findings", kind="finding", verdict=verdict, sections=sections)
