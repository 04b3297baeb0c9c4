"""A model whose identifier was overwritten."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    data = write(dense())
    return save(tmp_path, data[:4] + b"TFL2" + data[8:])
