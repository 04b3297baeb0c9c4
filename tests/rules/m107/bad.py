"""One large constant of float32."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, noise, save


def source(tmp_path: Path) -> Source:
    size = {"weights": {"shape": [32, 64]}, "x": {"shape": [1, 64]}, "y": {"shape": [1, 32]}}
    return save(tmp_path, dense(buffers=[noise(32, 64)], **size))
