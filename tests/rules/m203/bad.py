"""A file of 3 MiB for 2 MiB of flash."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.budget import Verdict, device_budget, weigh
from outlive.arena.devices import find_device
from tests.arena.sketches import KIB, micro


def fact(tmp_path: Path) -> Verdict:
    return weigh(micro(file_bytes=3 * 1024 * KIB), device_budget(find_device("rp2040")))
