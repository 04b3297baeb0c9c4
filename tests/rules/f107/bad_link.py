"""A symbolic link that was checked out as a text file."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, "../weights/mobilenet_v2.tflite")
