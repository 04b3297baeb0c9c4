"""A Keras model, which is a zip archive too."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import archive, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, archive("metadata.json", "config.json", "model.weights.h5"), "model.keras")
