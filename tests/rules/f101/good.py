"""A symbolic link to a model is a model."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    link = tmp_path / "link.tflite"
    link.symlink_to(save(tmp_path, dense()))
    return link
