"""28 MiB for 16, and two ways that would fit."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Budget, Verdict, Way, weigh
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Verdict:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=16 * MIB, source="--ram")
    smaller = Way(
        what="run at 512x512",
        options=("--input", "image=1x512x512x1"),
        needed_bytes=7 * MIB,
        changes_results=True,
    )
    other = Way(
        what="use XNNPACK",
        options=("--accelerator", "cpu"),
        needed_bytes=15 * MIB,
        changes_results=False,
    )
    return weigh(sketch(), budget, (other, smaller))
