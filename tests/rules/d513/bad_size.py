"""A shape whose number of elements overflows."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death

LINE = "F0000 00:00:17.01 1 tensor_shape.cc:404] Check failed: 0 <= new_num_elements (0 vs. -1)\n"


def fact(tmp_path: Path) -> Flight:
    return death("SIGABRT", stage="call", op=None, frames=(), stderr_tail=LINE)
