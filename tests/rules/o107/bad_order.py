"""A TRANSPOSE that takes a dimension twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4, 2]), tensor("order", [2], "INT32", buffer=1), tensor("y", [2, 2])]
    step = operator("TRANSPOSE", [0, 1], [2])
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[np.array([1, 1], np.int32)]))
