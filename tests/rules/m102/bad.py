"""A buffer that nothing refers to."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(buffers=[ones(2, 4), b"left behind" * 40]))
