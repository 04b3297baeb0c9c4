"""A little slower: clocks are not exact."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(gpu(milliseconds=2.2))
