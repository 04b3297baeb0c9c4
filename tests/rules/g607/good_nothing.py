"""A cycle that could not be repeated was not measured."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import UNCLEAR, CycleGrowth, Growth
from tests.rules.growths import growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(
        stage("load"), CycleGrowth(cycle="resize", verdict=UNCLEAR, problem="no other input size is accepted")
    )
