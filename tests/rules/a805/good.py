"""A library that is not there is told by A806."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Accelerator, Coverage
from tests.rules.coverages import coverage


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        Accelerator(
            name="libv.so",
            title="library",
            available=False,
            is_library=True,
            unavailable="there is no file libv.so",
        )
    )
