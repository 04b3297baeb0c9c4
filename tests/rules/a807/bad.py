"""SwiftShader."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(gpu(device="SwiftShader Device (Subzero)", is_software=True, milliseconds=90.0))
