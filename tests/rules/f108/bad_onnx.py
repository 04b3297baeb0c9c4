"""An ONNX model."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, b"\x08\x07\x12\x07pytorch\x1a\x051.8.0" + bytes(64))
