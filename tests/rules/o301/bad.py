"""An operator without a kernel."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan
from tests.arena.sketches import refused


def fact(tmp_path: Path) -> Plan:
    return refused()
