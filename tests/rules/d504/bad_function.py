"""A guarded function that followed a wrong pointer."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGSEGV", frames=("own_kernel",), op=None, stage="call")
