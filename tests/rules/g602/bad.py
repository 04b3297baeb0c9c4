"""Arrays in a list that an object of a module keeps."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import ARRAYS, growth, heap


def fact(tmp_path: Path) -> Growth:
    return growth(heap(census=Census(rounds=20, keepers=(ARRAYS,))))
