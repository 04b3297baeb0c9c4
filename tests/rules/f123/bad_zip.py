"""A zip archive at the end whose directory is cut off."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import archive, dense, save


def source(tmp_path: Path) -> Source:
    attached = bytearray(archive("labels.txt"))
    start = attached.index(b"PK\x01\x02")
    attached[start : start + 4] = b"gone"
    return save(tmp_path, write(dense()) + attached)
