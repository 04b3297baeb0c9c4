"""A TensorFlow of before numpy 2, beside it."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(packages={"litert": "2.3.0", "tensorflow": "2.17.1", "numpy": "2.0.0"})
