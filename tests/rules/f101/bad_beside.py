"""No file of that name, but models in the same folder."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    save(tmp_path, dense(), "modle.tflite")
    save(tmp_path, dense(), "other.tflite")
    return tmp_path / "model.tflite"
