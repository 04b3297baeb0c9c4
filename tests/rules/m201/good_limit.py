"""The limit of a run is for another rule."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Budget, Verdict, weigh
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Verdict:
    budget = Budget(kind="limit", title="the limit", ram_bytes=1 * MIB, source="limits")
    return weigh(sketch(), budget)
