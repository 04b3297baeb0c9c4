"""The last tflite-runtime beside numpy 2."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: numpy.core.multiarray failed to import (tflite_runtime)"
