"""A library for another processor."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Accelerator, Coverage
from tests.rules.coverages import coverage


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        Accelerator(
            name="libv.so",
            title="delegate library libv.so",
            available=False,
            is_library=True,
            unavailable="libv.so is made for aarch64, and this machine is x86_64",
            install="take the build for x86_64",
        )
    )
