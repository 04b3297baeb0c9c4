"""A null pointer after a refused thread that the runtime did without: another cause."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    threads = {"asked": 64, "running": 16, "by": "pids.max", "limit": 20}
    return death(fault_address=0x10, limits={**LIMITS, "threads": threads})
