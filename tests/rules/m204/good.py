"""A small model: not worth a word."""

from __future__ import annotations

from pathlib import Path

from outlive.arena.plan import Plan
from tests.arena.sketches import MIB, sketch


def fact(tmp_path: Path) -> Plan:
    return sketch(peak_bytes=9 * MIB)
