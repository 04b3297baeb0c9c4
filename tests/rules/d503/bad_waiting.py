"""A function that waits for a queue that nobody fills."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="call",
        ended_by="deadline",
        limits={**LIMITS, "seconds": 5.0},
        op=None,
        frames=(),
        activity={"cpu_share": 0.0, "threads": 9, "children": []},
        fault_trace='Current thread 0x1 (most recent call first):\n  File "train.py", line 7 in train\n',
    )
