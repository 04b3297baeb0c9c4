"""Python's own MemoryError, while a tensor of 8 GiB was copied out."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import GIB, complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(kind="MemoryError", stage="get", peak_bytes=8 * GIB)
