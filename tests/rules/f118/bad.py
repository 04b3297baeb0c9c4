"""Weights behind the tables, cut off with the end of the file."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, write(dense(), outside=True)[:-1])
