"""A tensor of a type that the schema does not have."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(y={"type": 77}))
