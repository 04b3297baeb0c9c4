"""A worker that did not come to life in the time that outlive gives it."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGKILL", ended_by="deadline", stage="start", frames=(), op=None, peak_bytes=None)
