"""A branch of operators that ends nowhere, in the second subgraph too."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor(name, [1, 256]) for name in ("x", "y", "one", "two")]
    steps = [operator("RELU", [0], [1]), operator("LOGISTIC", [0], [2]), operator("TANH", [2], [3])]
    made = graph(tensors, steps, [0], [1])
    return save(tmp_path, tree(made, made))
