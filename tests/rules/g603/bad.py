"""Pipes that nobody closes."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(stage(rates={"descriptors": 2.0}, census=Census(rounds=20, descriptors=(("pipe", 2.0),))))
