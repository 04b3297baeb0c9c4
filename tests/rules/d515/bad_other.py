"""A Python that does not start."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint("cannot start /opt/python: No such file or directory", "OSError", stage="start")
