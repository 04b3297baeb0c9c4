"""A model that cannot be compiled."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import RESHAPE, coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        gpu(
            runs=False,
            compiles=False,
            milliseconds=None,
            ops_taken=None,
            taken=None,
            error="Failed to modify graph with delegate",
            refused=(RESHAPE,),
        )
    )
