"""A guarded script that asked for more than its limit, on a GPU too."""

from __future__ import annotations

from pathlib import Path

from outlive.meter import Point
from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, MIB, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="call",
        op=None,
        frames=(),
        ended_by="memory",
        stderr_tail="",
        limits={**LIMITS, "memory_bytes": 1000 * MIB},
        timeline=(Point(seconds=1.0, bytes=900 * MIB, rss_bytes=0, gpu_bytes=2000 * MIB),),
        runtime={"script": "my train.py", "gpu": {"total_bytes": 8000 * MIB, "counted": "process"}},
    )
