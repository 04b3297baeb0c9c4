"""XNNPACK takes its memory when it allocates."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Plan:
    return sketch(accelerator="cpu", workspace_bytes=20 * MIB)
