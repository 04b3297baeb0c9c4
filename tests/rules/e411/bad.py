"""The last tflite-runtime beside numpy 2."""

from __future__ import annotations

from pathlib import Path

from outlive.environment.surroundings import Surroundings
from tests.rules.places import machine


def fact(tmp_path: Path) -> Surroundings:
    return machine(packages={"tflite_runtime": "2.14.0", "numpy": "2.2.6"})
