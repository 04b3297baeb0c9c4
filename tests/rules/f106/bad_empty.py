"""An archive without a single file."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import archive, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, archive())
