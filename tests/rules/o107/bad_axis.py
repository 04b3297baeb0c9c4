"""A mean over a dimension that is not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4, 2]), tensor("axis", [1], "INT32", buffer=1), tensor("y", [4])]
    step = operator("MEAN", [0, 1], [2], "ReducerOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[np.array([5], np.int32)]))
