"""Two convolution-sized constants of the same values, in a buffer each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 16]), tensor("y", [1, 16]), tensor("left", [16], buffer=1)]
    tensors += [tensor("right", [16], buffer=2), tensor("z", [1, 16])]
    steps = [operator("ADD", [0, 2], [1]), operator("MUL", [1, 3], [4])]
    values = np.arange(16, dtype=np.float32).repeat(5)
    return save(tmp_path, tree(graph(tensors, steps, [0], [4]), buffers=[values, values]))
