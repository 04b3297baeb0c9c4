"""Findings as a GitLab code quality report: the part of Code Climate's format that GitLab documents.

A list of issues, each with `description`, `check_name`, `fingerprint`, `severity` (info, minor, major,
critical or blocker) and `location.path` with `location.lines.begin`; see docs.gitlab.com, "Code Quality".
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from outlive.finding import Finding, Severity
from outlive.names import safe
from outlive.rendering.finding_text import plain_finding
from outlive.rendering.media.json import Json, dump
from outlive.rendering.places import place_within, relative_path
from outlive.rules.checked import Checked, Checks

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}
_LIMIT = 300


def render(checks: Checks) -> str:
    """The report, with paths as seen from this folder."""
    return dump(quality_issues(checks.files, Path.cwd())) + "\n"


def quality_issues(rows: Sequence[Checked], folder: Path) -> list[Json]:
    """An issue for each finding; fingerprints stay the same from run to run."""
    issues: list[Json] = []
    for row in rows:
        place = relative_path(row.reading.path, folder)
        seen: Counter[str] = Counter()
        for finding in row.judgement:
            inside = place_within(finding, row.reading.path)
            mark = _mark(finding, place, inside)
            seen[mark] += 1
            issues.append(_issue(finding, safe(place), inside, f"{mark}{seen[mark]:x}"))
    return issues


def _issue(finding: Finding, place: str, inside: str, fingerprint: str) -> Json:
    where = f" ({safe(inside, _LIMIT)})" if inside else ""
    return {
        "description": f"{finding.code}: {safe(finding.headline, _LIMIT)}{where}",
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": place, "lines": {"begin": 1}},
        "content": {"body": plain_finding(finding, detail=1)},
    }


def _mark(finding: Finding, place: str, inside: str) -> str:
    """What tells one finding from another, whatever the numbers in its evidence are."""
    op = "" if finding.op is None else f"{finding.op.subgraph}/{finding.op.index}/{finding.op.type}"
    identity = "\0".join((place, finding.code, inside, op)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(identity).hexdigest()[:32]
