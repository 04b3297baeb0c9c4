"""A null pointer in XNNPACK."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import XNNPACK, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGSEGV", fault_address=0x28, frames=XNNPACK, stage="allocate")
