"""A dense layer without a bias, which may be left out."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(op={"inputs": [0, 1]}))
