"""Less is left than the plan may be off by."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Budget, Verdict, weigh
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Verdict:
    budget = Budget(kind="ram", title="the RAM granted", ram_bytes=29 * MIB, source="--ram")
    return weigh(sketch(), budget)
