"""A mapped model file that was made shorter."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    return death("SIGBUS", fault_address=0x7F0000001000)
