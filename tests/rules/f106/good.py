"""A model with a zip archive at its end, as task libraries attach labels."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import archive, dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, write(dense()) + archive("labels.txt"))
