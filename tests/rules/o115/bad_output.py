"""The output of the graph is a tensor that nothing writes."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("y", [1, 4]), tensor("z", [1, 4])]
    steps = [operator("TANH", [0], [1])]
    return save(tmp_path, tree(graph(tensors, steps, [0], [1, 2])))
