"""An input left out with -1, as a dense layer without a bias has it."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(op={"inputs": [0, 1, -1]}))
