"""A null pointer followed with most of the limit in use: memory that was not given, and not checked."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import MIB, death


def fact(tmp_path: Path) -> Flight:
    return death(
        fault_address=0x200,
        peak_bytes=1100 * MIB,
        limits={"memory_bytes": 1_500_000_000, "data_bytes": 1_596_587_776},
        last_memory={"data_bytes": 1_408_864_256},
    )
