"""A shell with `ulimit -v`."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import GIB, machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(limits={"AS": GIB})
