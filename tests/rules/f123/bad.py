"""A model card of bytes that are none."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    card = {"metadata": [{"name": "TFLITE_METADATA", "buffer": 2}]}
    return save(tmp_path, dense(buffers=[ones(2, 4), b"\xff" * 32], **card))
