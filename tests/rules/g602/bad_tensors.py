"""Tensors own native memory that Python does not count."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import POINTERS, TENSORS, growth, heap


def fact(tmp_path: Path) -> Growth:
    return growth(heap(census=Census(rounds=20, keepers=(POINTERS, TENSORS))))
