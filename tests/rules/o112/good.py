"""A dense layer that takes four values at a time, and is given eight."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(x={"shape": [2, 4]}, y={"shape": [2, 2]}))
