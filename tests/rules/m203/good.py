"""A file of 200 KiB."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Verdict, device_budget, weigh
from outlive.arena.devices import find_device
from tests.arena.sketches import micro


def fact(tmp_path: Path) -> Verdict:
    return weigh(micro(), device_budget(find_device("rp2040")))
