"""A GPU that dies, and the one operator that it takes."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from outlive.accelerators.coverage import Death, FaultyPart
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        gpu(
            runs=False,
            compiles=False,
            milliseconds=None,
            ops_taken=None,
            taken=None,
            death=Death(stage="load", signal="SIGABRT", headline="a check inside the library failed"),
            culprit=FaultyPart(ops=(2,), types=("RESHAPE",), how="dies with SIGABRT at load"),
        )
    )
