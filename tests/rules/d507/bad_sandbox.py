"""A system call that a sandbox forbids."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGSYS", op=None, frames=("__clone3", "pthread_create"), stage="load")
