"""A file that is mapped in each round."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, mapped


def fact(tmp_path: Path) -> Growth:
    return growth(mapped())
