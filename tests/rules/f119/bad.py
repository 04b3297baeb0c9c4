"""Weights of one element less than their shape."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(buffers=[ones(7)]))
