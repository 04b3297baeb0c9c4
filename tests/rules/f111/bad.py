"""An offset to a name that leads back to itself."""

from __future__ import annotations

import struct
from pathlib import Path

from outlive.model import Source
from outlive.surgery import write
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    data = bytearray(write(dense(description="damaged here")))
    at = data.index(b"damaged here") - 4
    root = struct.unpack_from("<I", data)[0]
    pointers = [
        place for place in range(root, at, 4) if place + struct.unpack_from("<I", data, place)[0] == at
    ]
    struct.pack_into("<I", data, pointers[0], 0)
    return save(tmp_path, bytes(data))
