"""An uncaught std::bad_alloc."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGABRT", stderr_tail="terminate called after throwing an instance of 'std::bad_alloc'\n")
