"""A single byte is no model, but not nothing."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, b"\0")
