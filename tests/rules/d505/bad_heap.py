"""A heap that the C library found damaged."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        stage="free",
        op=None,
        frames=("libc.so.6", "abort", "libc.so.6", "cfree"),
        stderr_tail="free(): invalid next size (fast)\n",
    )
