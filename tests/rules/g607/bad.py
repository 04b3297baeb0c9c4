"""It grew, but not steadily."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, unclear


def fact(tmp_path: Path) -> Growth:
    return growth(unclear())
