"""A line that only this fault prints."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.logged import LoggedFault


def fact(tmp_path: Path) -> LoggedFault:
    return LoggedFault(
        code="D532",
        lines=("Bus error (core dumped)",),
        meaning="what the tables say of it",
        do=("what the tables say to do",),
    )
