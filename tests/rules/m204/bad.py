"""28 MiB of arena that only a run touches."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan
from tests.arena.sketches import sketch


def fact(tmp_path: Path) -> Plan:
    return sketch()
