"""A script whose list grew until Python raised MemoryError, without a limit of its own."""

from __future__ import annotations

from pathlib import Path

from outlive.meter import Point
from outlive.process.flight import Flight
from tests.rules.facts import GIB, MIB, complaint

TRACE = 'Current thread (most recent call first):\n  File "grow.py", line 4 in fill\n'


def fact(tmp_path: Path) -> Flight:
    return complaint(
        kind="MemoryError",
        stage="call",
        peak_bytes=7 * GIB,
        timeline=tuple(Point(seconds=at / 10, bytes=at * GIB, rss_bytes=0) for at in range(8)),
        fault_trace=TRACE,
        variables=({"name": "kept", "type": "list", "items": 890, "bytes": 890 * 8 * MIB},),
        machine={"total_bytes": 8 * GIB, "available_bytes": GIB // 2},
        runtime={"script": "grow.py"},
    )
