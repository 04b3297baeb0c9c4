"""A pipe, which could not be mapped and would block whoever reads it."""

from __future__ import annotations

import os
from pathlib import Path

from outlive.model import Source


def source(tmp_path: Path) -> Source:
    path = tmp_path / "model.tflite"
    os.mkfifo(path)
    return path
