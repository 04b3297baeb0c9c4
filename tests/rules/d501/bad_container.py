"""A model that needs more than its container has, killed by the kernel while its memory rose."""

from __future__ import annotations

from pathlib import Path

from outlive.meter import Point
from outlive.process.flight import Flight
from tests.rules.facts import GIB, MIB, death

PLANNED = {
    "needed_bytes": 888 * MIB,
    "bound": "estimate",
    "accelerator": "cpu",
    "op": {"index": 2, "type": "CONV_2D", "live_bytes": 780 * MIB},
    "alive": [{"name": "stem/conv", "bytes": 256 * MIB}, {"name": "block1/project", "bytes": 256 * MIB}],
    "room_bytes": 600 * MIB,
    "ways": [
        {
            "what": "run at 512x512",
            "options": "--input image=1x512x512x3",
            "needed_bytes": 222 * MIB,
            "changes_results": True,
        }
    ],
}


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGKILL",
        oom_kills=(0, 1),
        op=None,
        frames=(),
        peak_bytes=480 * MIB,
        timeline=tuple(Point(seconds=at / 10, bytes=at * 60 * MIB, rss_bytes=0) for at in range(9)),
        planned=PLANNED,
        machine={
            "total_bytes": 16 * GIB,
            "available_bytes": 9 * GIB,
            "cgroup_limit_bytes": 600 * MIB,
            "cgroup_used_bytes": 90 * MIB,
        },
        limits={"memory_bytes": 2 * GIB, "seconds": None},
    )
