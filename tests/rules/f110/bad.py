"""A download that stopped half-way."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    data = write(dense(buffers=[ones(64, 4)], weights={"shape": [64, 4]}, y={"shape": [1, 64]}))
    return save(tmp_path, data[: len(data) // 4])
