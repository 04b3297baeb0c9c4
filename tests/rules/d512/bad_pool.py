"""A pool of forked processes that wait."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    children = [{"cpu_share": 0.0, "forked": True}, {"cpu_share": 0.01, "forked": True}]
    return death(
        "SIGABRT",
        stage="call",
        ended_by="deadline",
        op=None,
        activity={"cpu_share": 0.0, "threads": 12, "children": children},
    )
