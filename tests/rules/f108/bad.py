"""A Keras model in HDF5."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, b"\x89HDF\r\n\x1a\n" + bytes(64))
