"""The sixtieth round found no descriptor left."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage(problem="round 1201 raised OSError: Too many open files"))
