"""One operator at the end is left to the CPU."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage, OpRefusal
from tests.rules.coverages import RESHAPE, coverage, gpu, handed_over


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        gpu(
            ops_taken=2,
            taken=(0, 1),
            refused=(
                RESHAPE,
                OpRefusal(
                    op=3, type="SOFTMAX", reason="Operation is not supported.", source="its own report"
                ),
            ),
            crossings=handed_over(),
        )
    )
