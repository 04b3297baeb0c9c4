"""A symbolic link to itself: the operating system refuses to open it."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source


def source(tmp_path: Path) -> Source:
    path = tmp_path / "model.tflite"
    path.symlink_to(path)
    return path
