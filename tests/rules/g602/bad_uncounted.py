"""Objects became more, and nobody could look at which."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Growth
from tests.rules.growths import KIB, growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage(rates={"held_bytes": 2.0 * KIB, "objects": 40.0}))
