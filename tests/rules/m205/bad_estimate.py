"""An estimate: only what is alive at one operator counts."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Budget, Verdict, weigh
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Verdict:
    budget = Budget(kind="limit", title="the limit of the run", ram_bytes=16 * MIB, source="limits")
    return weigh(sketch(exact=False), budget)
