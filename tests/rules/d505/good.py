"""An abort for lack of memory, which has a rule of its own."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGABRT", stderr_tail="what():  std::bad_alloc\n")
