"""Few zeros; zeros that are small; and zeros of a type whose zero is another number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    few = np.ones(8000, np.int8)
    few[::3] = 0
    shifted = {"scale": [0.5], "zero_point": [128]}
    buffers = [few, np.zeros(1000, np.int8), np.zeros(8000, np.uint8)]
    tensors = [
        tensor("y", [1]),
        tensor("few", [8000], "INT8", buffer=1),
        tensor("small", [1000], "INT8", buffer=2),
        tensor("shifted", [8000], "UINT8", buffer=3, quantization=shifted),
    ]
    step = operator("aeq.hadamard_rotation", [1, 2, 3], [0])
    return save(tmp_path, tree(graph(tensors, [step], [], [0]), buffers=buffers))
