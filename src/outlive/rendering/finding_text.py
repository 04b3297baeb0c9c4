"""Draws findings as text: once as styled pieces, which a terminal colours and a log takes plain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from outlive.finding import Evidence, Finding, Severity
from outlive.names import safe, whole
from outlive.units import plural

if TYPE_CHECKING:
    from rich.text import Text

Piece = tuple[str, str]  # text, style

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_LIMIT = 300
_FACT_WIDTH = 64


def finding_pieces(finding: Finding) -> Iterator[Piece]:
    """The finding as styled pieces of text, lines separated by newlines."""
    style = _STYLE[finding.severity]
    yield f"{finding.severity.value}[{finding.code}]", style
    yield f": {finding.headline}\n", "bold"
    yield from _line("at", finding.where)
    yield from _evidence(finding.evidence)
    if finding.why:
        yield from _line("why", finding.why)
    for number, remedy in enumerate(finding.remedies, 1):
        numbered = f"{number}. " if len(finding.remedies) > 1 else ""
        effect = f": {remedy.effect}" if remedy.effect else ""
        yield from _line(
            "do" if number == 1 else "", f"{numbered}{remedy.action}{effect}  [{remedy.tag.value}]"
        )
        if remedy.command:
            yield "       ", ""
            yield f"{whole(remedy.command)}\n", "green"
    yield from _line("sure", finding.confidence)
    yield from _line("more", f"outlive explain {finding.code}", "dim")


def plain_finding(finding: Finding) -> str:
    """The finding as plain text, for exceptions, logs and pipes."""
    return "".join(text for text, _ in finding_pieces(finding)).rstrip("\n")


def rich_finding(finding: Finding) -> Text:
    """The finding as coloured text."""
    from rich.text import Text

    return Text.assemble(*finding_pieces(finding))


def count_findings(findings: Iterable[Finding]) -> str:
    """How many findings of each severity: `1 error, 2 notes`."""
    counts = dict.fromkeys(Severity, 0)
    for finding in findings:
        counts[finding.severity] += 1
    said = [plural(count, severity.value) for severity, count in counts.items() if count]
    return ", ".join(said) or "none"


def _line(label: str, text: str, style: str = "") -> Iterator[Piece]:
    yield f"  {label:<5}", "dim"
    yield f"{safe(text, _LIMIT)}\n", style


def _evidence(evidence: tuple[Evidence, ...]) -> Iterator[Piece]:
    facts = [(safe(item.fact, _LIMIT), safe(item.source, _LIMIT)) for item in evidence]
    width = min(_FACT_WIDTH, max(len(fact) for fact, _ in facts))
    for number, (fact, source) in enumerate(facts, 1):
        yield f"  {'└─' if number == len(facts) else '├─'} ", "dim"
        yield f"{fact:<{width}}", ""
        yield f"  ({source})\n", "dim"
