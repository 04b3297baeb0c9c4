"""A limit that may be enough."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Budget, Verdict, weigh
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Verdict:
    budget = Budget(kind="limit", title="the limit of the run", ram_bytes=64 * MIB, source="limits")
    return weigh(sketch(), budget)
