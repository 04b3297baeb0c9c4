"""A constant that claims more elements than the file has bytes."""

from __future__ import annotations

import struct
from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    data = bytearray(write(dense()))
    struct.pack_into("<I", data, data.index(ones(2, 4).tobytes()) - 4, 1_000_000)
    return save(tmp_path, bytes(data))
