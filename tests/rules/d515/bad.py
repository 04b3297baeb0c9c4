"""No more descriptors for a worker's pipes."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint("nothing can be opened here: Too many open files", "OSError", stage="start")
