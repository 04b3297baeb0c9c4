"""What malloc gave out grows, and no Python object became more."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, heap


def fact(tmp_path: Path) -> Growth:
    return growth(heap())
