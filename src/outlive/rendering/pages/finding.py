"""Findings on their own, where a program or a notebook shows them: one, or those of a judgement."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.finding import Finding
from outlive.rendering import page as ui
from outlive.rendering.finding_text import count_findings


def findings_page(findings: Sequence[Finding]) -> ui.Page:
    """The page of some findings."""
    verdict = ui.PageVerdict(ui.worst_tone(findings), count_findings(findings))
    sections = tuple(ui.findings_sections(findings))
    return ui.Page(title="Findings", kind="finding", verdict=verdict, sections=sections)
