"""A user with a tight limit, in a container with another."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(limits={"NPROC": 40}, process_limit=50)
