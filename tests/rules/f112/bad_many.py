"""More indices that lead nowhere than a message can hold."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(op={"inputs": [0, 1, -1, 20, 21, 22, 23, 24, -2]}))
