"""A complaint that the session took for a lack of memory, under a limit that was set."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(
        "XNNPack delegate failed to reshape runtime",
        ended_by="memory",
        limits={**LIMITS, "memory_bytes": 200_000_000, "data_bytes": 296_587_776},
    )
