"""The whole file, and a few bytes more than it needs."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, write(dense()) + bytes(100))
