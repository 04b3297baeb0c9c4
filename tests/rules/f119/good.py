"""Weights with more bytes than their shape needs, which the runtime allows."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(buffers=[ones(9)]))
