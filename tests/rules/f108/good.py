"""A model that carries the first bytes of a gzip archive in a buffer."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(buffers=[b"\x1f\x8b" * 16]))
