"""Findings as Markdown for the summary of a CI job: a table of the files, then each finding to unfold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from outlive.finding import Finding, Severity
from outlive.names import safe
from outlive.rendering.finding_text import count_findings, plain_finding
from outlive.rendering.places import relative_path
from outlive.rules.checked import Checked, Checks
from outlive.units import format_bytes, plural

# GitHub takes 1 MiB for each step, and nothing at all of more.
_MOST_BYTES = 900_000
_NAME = 160
_SIGNS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "💡"}
# An underscore within a word is one, in Markdown too.
_SPECIAL = re.compile(r"[\\`*{}\[\]<>#|~&@]|(?<![^\W_])_|_(?![^\W_])")


def render(checks: Checks) -> str:
    """The page, with paths as seen from this folder."""
    return summary_markdown(checks.files, Path.cwd(), checks.reasons)


def summary_markdown(rows: Sequence[Checked], folder: Path, reasons: Sequence[tuple[str, str]] = ()) -> str:
    """The page; what is too much for one is counted at its end."""
    parts: list[str] = []
    size = left_out = 0
    for part in _parts(rows, folder, reasons):
        size += len(part.encode("utf-8", "replace")) + 1
        if size > _MOST_BYTES:
            left_out += 1
        else:
            parts.append(part)
    if left_out:
        parts.append(f"\n{plural(left_out, 'part')} of this summary left out: it would be too long.")
    return "\n".join(parts) + "\n"


def _parts(rows: Sequence[Checked], folder: Path, reasons: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "## outlive check\n"
    if not rows:
        yield "No model to check: none has changed, or all are excluded."
        return
    found = [finding for row in rows for finding in row.judgement]
    bad = sum(bool(row.judgement.errors) for row in rows)
    said = count_findings(found) if found else "nothing found"
    yield f"{plural(len(rows), 'model')}, {bad} with errors: {said}.\n"
    planned = any(row.verdict is not None for row in rows)
    yield _row("model", "size", "errors", "warnings", "notes", *(("fit",) if planned else ()))
    yield _row(":--", "--:", "--:", "--:", "--:", *((":--",) if planned else ()))
    for row in rows:
        yield _file(row, folder, planned)
    yield ""
    for row in rows:
        yield from (_finding(finding, _name(row, folder)) for finding in row.judgement)
    for word, reason in reasons:
        yield f"- ignored: {escape(safe(word, 80))}, because {escape(safe(reason, 300))}"


def _file(row: Checked, folder: Path, planned: bool) -> str:
    counts = Counter(finding.severity for finding in row.judgement)
    worst = next((severity for severity in Severity if counts[severity]), None)
    sign = "✅" if worst is None else _SIGNS[worst]
    fit = ("" if row.verdict is None else row.verdict.word,) if planned else ()
    numbers = (str(counts[severity] or "") for severity in Severity)
    return _row(f"{sign} {_name(row, folder)}", format_bytes(row.reading.file_bytes), *numbers, *fit)


def _finding(finding: Finding, name: str) -> str:
    title = f"{_SIGNS[finding.severity]} {finding.code} {escape(safe(finding.headline, 300))}: {name}"
    text = plain_finding(finding, detail=1)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"<details><summary>{title}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"


def _name(row: Checked, folder: Path) -> str:
    return escape(safe(relative_path(row.reading.path, folder) or "the given bytes", _NAME))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def escape(text: str) -> str:
    """A stranger's words, so that none of them is Markdown or HTML."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
