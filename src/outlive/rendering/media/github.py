"""Findings as GitHub workflow commands, which GitHub shows beside the files: `::error file=...::...`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from outlive.finding import Finding, Severity
from outlive.names import safe_lines
from outlive.rendering.finding_text import plain_finding
from outlive.rendering.places import relative_path
from outlive.rules.checked import Checked, Checks

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(checks: Checks) -> str:
    """The lines, with paths as seen from this folder."""
    return "".join(f"{line}\n" for line in workflow_commands(checks.files, Path.cwd()))


def workflow_commands(rows: Sequence[Checked], folder: Path) -> Iterator[str]:
    """One line for each finding; paths below the folder are relative to it, as GitHub wants them."""
    for row in rows:
        place = relative_path(row.reading.path, folder)
        for finding in row.judgement:
            yield _line(finding, place)


def _line(finding: Finding, place: str) -> str:
    title = f"{finding.code} {finding.name}"
    named = {"file": place, "title": title} if place else {"title": title}
    properties = ",".join(f"{key}={_property(value)}" for key, value in named.items())
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(plain_finding(finding, detail=1))}"


def _data(text: str) -> str:
    """The text with what would end the command as escapes: actions/toolkit, packages/core/src/command.ts.

    What is no plain text is escaped first: a log is looked at on terminals too.
    """
    return safe_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The same for a property, which also ends at a comma or a colon."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
