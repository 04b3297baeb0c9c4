"""The operator before writes over a constant instead."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("y", [1, 4]), tensor("w", [1, 4], buffer=1), tensor("z", [1, 4])]
    steps = [operator("TANH", [0], [2]), operator("ADD", [1, 2], [3], "AddOptions")]
    return save(tmp_path, tree(graph(tensors, steps, [0], [3]), buffers=[ones(1, 4)]))
