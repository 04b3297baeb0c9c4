"""A folder without a model."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source


def source(tmp_path: Path) -> Source:
    return tmp_path
