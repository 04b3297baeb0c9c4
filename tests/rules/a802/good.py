"""The reference kernels stand alone: another kernel of the CPU agrees."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import apart, coverage, gpu


def fact(tmp_path: Path) -> Coverage:
    return coverage(gpu(difference=apart(0.7), agrees_with=("builtin",)))
