"""A folder with several models."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    for name in ("b.tflite", "a.tflite"):
        save(tmp_path, dense(), name)
    return tmp_path
