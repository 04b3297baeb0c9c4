"""An accelerator that is not here is no library."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Accelerator, Coverage
from tests.rules.coverages import coverage


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        Accelerator(name="npu", title="NPU", available=False, unavailable="OpenVINO is not installed")
    )
