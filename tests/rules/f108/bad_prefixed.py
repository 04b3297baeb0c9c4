"""A model behind a size prefix."""

from __future__ import annotations

import struct
from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    data = write(dense())
    return save(tmp_path, struct.pack("<I", len(data)) + data)
