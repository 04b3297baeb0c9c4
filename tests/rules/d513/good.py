"""An abort without a check, and a check whose process lived."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGABRT", stage="call", op=None, stderr_tail="terminate called\n")
