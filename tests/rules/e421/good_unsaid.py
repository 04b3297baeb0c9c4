"""A model that does not say."""

from __future__ import annotations

from pathlib import Path

from tests.rules.ageing import model_for
from tests.rules.places import machine


def facts(tmp_path: Path) -> dict[str, object]:
    return {
        "model": model_for(""),
        "surroundings": machine(packages={"tflite_runtime": "2.14.0", "numpy": "1.26.4"}),
    }
