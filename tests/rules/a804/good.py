"""Nothing taken is not a part."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(gpu(ops_taken=0, taken=(), partitions=0))
