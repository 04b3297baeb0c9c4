"""A call that did not come back in time."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGKILL", ended_by="deadline", limits={**LIMITS, "seconds": 2.0}, frames=(), op=None)
