"""A guarded function in a container, where nobody says whose the memory of the GPU is."""

from __future__ import annotations

from pathlib import Path

from outlive.meter import Point
from outlive.process.flight import Flight
from tests.rules.facts import MIB, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGKILL",
        oom_kills=(3, 4),
        frames=(),
        op=None,
        stage="call",
        timeline=(Point(seconds=1.0, bytes=900 * MIB, rss_bytes=0, gpu_bytes=2000 * MIB),),
        runtime={"gpu": {"total_bytes": 8000 * MIB, "counted": "machine"}},
    )
