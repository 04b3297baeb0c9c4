"""A microcontroller gives memory when it is asked for."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan
from tests.arena.sketches import micro


def fact(tmp_path: Path) -> Plan:
    return micro()
