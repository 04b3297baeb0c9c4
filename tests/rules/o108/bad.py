"""A pool without its window."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4, 4, 2]), tensor("y", [1, 2, 2, 2])]
    return save(tmp_path, tree(graph(tensors, [operator("MAX_POOL_2D", [0], [1])], [0], [1])))
