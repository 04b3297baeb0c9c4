"""TensorFlow's word for a tensor that is larger than the limit, and of which a part would fit."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import GIB, MIB, complaint

SAID = "OOM when allocating tensor with shape[60000,60000] and type float on CPU:0 by allocator mklcpu"


def fact(tmp_path: Path) -> Flight:
    return complaint(
        SAID,
        kind="ResourceExhaustedError",
        stage="call",
        peak_bytes=200 * MIB,
        limits={"memory_bytes": 2 * GIB, "seconds": None},
        machine={"total_bytes": 8 * GIB, "available_bytes": 4 * GIB},
    )
