"""A TILE with an output of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("times", [2], "INT32", buffer=1), tensor("y", [1, 4])]
    return save(
        tmp_path,
        tree(graph(tensors, [operator("TILE", [0, 1], [2])], [0], [2]), buffers=[np.ones(2, np.int32)]),
    )
