"""A MediaPipe bundle: a zip archive with models inside."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import archive, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, archive("detector.tflite", "labels.txt", "landmarks.tflite"), "hand.task")
