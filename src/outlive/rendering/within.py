"""Where in its file a finding is, for programs that show the file's name beside it anyway."""

from __future__ import annotations

from outlive.finding import Finding


def place_within(finding: Finding, path: str | None) -> str:
    """The operator, tensor or byte; empty where it is about the whole file."""
    where = finding.where
    return where[len(path) :].lstrip(", ") if path and where.startswith(path) else where
