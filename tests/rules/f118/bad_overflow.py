"""An offset that wraps around when the size is added to it."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    made = dense()
    made["buffers"][1] = {"offset": 2**64 - 16, "size": 64}
    return save(tmp_path, made)
