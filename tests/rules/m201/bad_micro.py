"""An arena too large for a microcontroller, and nothing that would fit."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Verdict, device_budget, weigh
from outlive.arena.devices import find_device
from tests.arena.sketches import KIB, micro


def fact(tmp_path: Path) -> Verdict:
    return weigh(micro(min_arena_bytes=300 * KIB), device_budget(find_device("rp2040")))
