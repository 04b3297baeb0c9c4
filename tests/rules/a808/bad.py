"""Sixteen threads on four processors."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import coverage


def fact(tmp_path: Path) -> Coverage:
    return coverage(threads=16)
