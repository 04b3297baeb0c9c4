"""An output with the buffer of the weights."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(
        tmp_path, dense(y={"buffer": 1, "shape": [2, 4]}, x={"shape": [2, 4]}, weights={"shape": [4, 2]})
    )
