"""A C++ exception that nothing catches."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import XNNPACK, death


def fact(tmp_path: Path) -> Flight:
    return death(
        "SIGABRT",
        frames=XNNPACK,
        stderr_tail="terminate called after throwing an instance of 'std::length_error'\n",
    )
