"""A worker that could not start."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death(
        None,
        exit_code=1,
        frames=(),
        op=None,
        stage="start",
        peak_bytes=None,
        stderr_tail="ImportError: numpy\n",
    )
