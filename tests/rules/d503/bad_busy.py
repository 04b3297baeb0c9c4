"""A model that computes for ever."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        ended_by="deadline",
        limits={**LIMITS, "seconds": 5.0},
        activity={"cpu_share": 1.0, "threads": 1, "children": []},
    )
