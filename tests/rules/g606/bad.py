"""In RAM, and neither malloc's nor mapped nor any object's."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import KIB, growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage(rates={"held_bytes": 20.0 * KIB}, census=Census(rounds=20)))
