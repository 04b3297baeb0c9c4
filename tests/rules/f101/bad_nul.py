"""A path with a NUL byte, which no operating system takes."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source


def source(tmp_path: Path) -> Source:
    return str(tmp_path / "model.tflite") + "\0.tflite"
