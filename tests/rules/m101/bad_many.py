"""Several constants, one of them stored often."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    often, twice = np.arange(100, dtype=np.float32), np.ones(80, np.float32)
    buffers = [*[often] * 8, *[twice] * 2]
    sizes = [item.size for item in buffers]
    tensors = [tensor(f"t{at}", [size], buffer=at + 1) for at, size in enumerate(sizes)]
    step = operator("aeq.hadamard_rotation", list(range(1, len(tensors) + 1)), [0])
    return save(tmp_path, tree(graph([tensor("y", [1]), *tensors], [step], [], [0]), buffers=buffers))
