"""A pointer without its last line."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, "version https://git-lfs.github.com/spec/v1\n")
