"""A run without XNNPACK."""

from __future__ import annotations

from pathlib import Path

from outlive.worker.flight import Flight
from tests.rules.facts import landing


def fact(tmp_path: Path) -> Flight:
    return landing()
