"""A complaint in words that are not about memory."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint("Node number 0 (CONV_2D) failed to prepare.")
