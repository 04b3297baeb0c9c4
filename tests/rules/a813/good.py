"""Another fault of a log."""

from __future__ import annotations

from pathlib import Path

from outlive.rules.logged import LoggedFault


def fact(tmp_path: Path) -> LoggedFault:
    return LoggedFault(code="D533", lines=("another line",), meaning="another fault")
