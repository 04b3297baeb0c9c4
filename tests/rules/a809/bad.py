"""A GPU that takes twice as long."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(gpu(milliseconds=4.4))
