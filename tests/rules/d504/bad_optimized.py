"""A wrong pointer in an optimized kernel."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import OPTIMIZED, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGSEGV", fault_address=0x7F0000001000, frames=OPTIMIZED)
