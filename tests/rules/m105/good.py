"""Operators that change something, or may do so in a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    order, sides = np.array([1, 0], np.int32), np.array([[0, 0], [1, 0]], np.int32)
    tensors = [tensor("a", [8, 8]), tensor("b", [8, 8]), tensor("c", [8, 9])]
    tensors += [tensor(name, [8, 9], shape_signature=[-1, 9]) for name in "de"]
    tensors += [tensor("order", [2], "INT32", buffer=1), tensor("sides", [2, 2], "INT32", buffer=2)]
    steps = [
        operator("TRANSPOSE", [0, 5], [1]),
        operator("PAD", [1, 6], [2]),
        operator("RESHAPE", [2], [3], "ReshapeOptions", new_shape=[-1, 9]),
        operator("SQUEEZE", [3], [4]),
    ]
    return save(tmp_path, tree(graph(tensors, steps, [0], [4]), buffers=[order, sides]))
