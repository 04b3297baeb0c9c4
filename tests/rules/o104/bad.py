"""A TILE that writes to its own input."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("times", [2], "INT32", buffer=1)]
    return save(
        tmp_path,
        tree(graph(tensors, [operator("TILE", [0, 1], [0])], [0], [0]), buffers=[np.ones(2, np.int32)]),
    )
