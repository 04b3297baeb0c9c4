"""LiteRT counts its own versions."""

from __future__ import annotations

from pathlib import Path

from tests.rules.ageing import model_for
from tests.rules.places import machine


def facts(tmp_path: Path) -> dict[str, object]:
    return {
        "model": model_for("2.17.0"),
        "surroundings": machine(packages={"litert": "1.0.1", "tflite_runtime": "2.14.0"}),
    }
