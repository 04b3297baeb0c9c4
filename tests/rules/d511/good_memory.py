"""Python's own MemoryError."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(kind="MemoryError")
