"""Metadata of a name that nobody knows may hold anything."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    entry = {"metadata": [{"name": "my own", "buffer": 2}]}
    return save(tmp_path, dense(buffers=[ones(2, 4), b"\xff" * 32], **entry))
