"""A crash under a deadline that was not reached."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import LIMITS, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGSEGV", limits={**LIMITS, "seconds": 2.0})
