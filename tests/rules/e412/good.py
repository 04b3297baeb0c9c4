"""LiteRT is not installed, and could be."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import bare


def fact(tmp_path: Path) -> Surroundings:
    return bare()
