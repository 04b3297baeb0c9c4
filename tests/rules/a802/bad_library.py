"""A library of the user's: nothing is known of its precision."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from tests.rules.coverages import apart, coverage, tried


def fact(tmp_path: Path) -> Coverage:
    return coverage(tried("libvendor.so", is_library=True, difference=apart(0.7)))
