"""A SIGKILL while the count of out-of-memory kills rose."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGKILL", oom_kills=(3, 4))
