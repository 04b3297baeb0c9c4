"""A stride of zero, met while tensors were allocated."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import PREPARE, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGFPE", stage="allocate", frames=PREPARE)
