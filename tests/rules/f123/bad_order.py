"""Control dependencies of a version that does not exist."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    order = {"metadata": [{"name": "model_control_dependencies", "buffer": 2}]}
    return save(tmp_path, dense(buffers=[ones(2, 4), b"\x09"], **order))
