"""A guarded function that called os._exit()."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death(None, exit_code=7, frames=(), op=None, stage="call")
