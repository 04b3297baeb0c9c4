"""Open files in a list: their buffers are no second leak."""

from __future__ import annotations

from pathlib import Path

from outlive.growth.growth import Census, Growth, Keeper
from tests.rules.growths import KIB, growth, stage


def fact(tmp_path: Path) -> Growth:
    return growth(
        stage(
            rates={"held_bytes": 5.0 * KIB, "heap_bytes": 4.0 * KIB, "descriptors": 1.0, "objects": 4.0},
            census=Census(
                rounds=20,
                descriptors=(("/dev/null", 1.0),),
                keepers=(
                    Keeper(
                        kind="_io.TextIOWrapper",
                        per_round=1.0,
                        bytes_each=5161,
                        plain=False,
                        container="list",
                        kept_by=("global variable opened of train",),
                    ),
                ),
            ),
        )
    )
