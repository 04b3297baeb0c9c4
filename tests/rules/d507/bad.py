"""An instruction that the processor does not have."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import XNNPACK, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGILL", frames=XNNPACK)
