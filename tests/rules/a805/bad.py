"""No GPU, and no driver."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Accelerator, Coverage
from tests.rules.coverages import coverage


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        Accelerator(
            name="gpu",
            title="GPU",
            available=False,
            ops_total=4,
            unavailable="there is no GPU here",
            install="apt install chromium libvulkan1",
        )
    )
