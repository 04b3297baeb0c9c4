"""Threads that wait for ever; what they take is no second leak."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth
from tests.rules.growths import KIB, growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(
        stage(
            rates={"held_bytes": 17.0 * KIB, "mapped_bytes": 16.0 * KIB, "threads": 1.0, "objects": 21.0},
            census=Census(rounds=20, threads=(("pump", 1.0),)),
        )
    )
