"""Buffers that a tensor, metadata, or nobody (an empty one) needs."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    entry = {"metadata": [{"name": "min_runtime_version", "buffer": 2}]}
    return save(tmp_path, dense(buffers=[ones(2, 4), b"1.5.0", b""], **entry))
