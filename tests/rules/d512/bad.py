"""A function that forked after TensorFlow had started its threads, and waits for the copy."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="call",
        ended_by="deadline",
        op=None,
        frames=(),
        activity={"cpu_share": 0.0, "threads": 9, "children": [{"cpu_share": 0.0, "forked": True}]},
        fault_trace='Current thread 0x1 (most recent call first):\n  File "train.py", line 7 in train\n',
    )
