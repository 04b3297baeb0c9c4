"""A pool with the options of a softmax."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4, 4, 2]), tensor("y", [1, 2, 2, 2])]
    step = operator("MAX_POOL_2D", [0], [1], "SoftmaxOptions", beta=1.0)
    return save(tmp_path, tree(graph(tensors, [step], [0], [1])))
