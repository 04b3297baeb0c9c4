"""A MemoryError far below the limit that was set: something else refused."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import GIB, MIB, complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(
        kind="MemoryError",
        stage="call",
        peak_bytes=300 * MIB,
        limits={"memory_bytes": 4 * GIB, "seconds": None},
        machine={"total_bytes": 32 * GIB, "available_bytes": 20 * GIB},
    )
