"""A system of ten years ago, with a Python of then."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import bare


def fact(tmp_path: Path) -> Surroundings:
    return bare(libc_version=(2, 17), python=(3, 8))
