"""Equal constants of less than 256 bytes, and large ones that differ in the middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    small = np.ones(63, np.float32)
    one, other = np.zeros(2000, np.uint8), np.zeros(2000, np.uint8)
    other[1000] = 1
    buffers = [small, small, one, other]
    types = ["FLOAT32", "FLOAT32", "UINT8", "UINT8"]
    tensors = [tensor(f"t{at}", [63], types[at], buffer=at + 1) for at in range(4)]
    step = operator("Gather", [1, 2, 3, 4], [0])
    return save(tmp_path, tree(graph([tensor("y", [1]), *tensors], [step], [], [0]), buffers=buffers))
