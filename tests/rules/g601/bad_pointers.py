"""Addresses kept in a list hold none of the memory they point to."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import POINTERS, growth, heap


def fact(tmp_path: Path) -> Growth:
    return growth(heap(census=Census(rounds=20, keepers=(POINTERS,))))
