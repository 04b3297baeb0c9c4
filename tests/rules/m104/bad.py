"""One operator whose result nobody reads."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 256]), tensor("y", [1, 256]), tensor("dead", [1, 256])]
    steps = [operator("RELU", [0], [1]), operator("LOGISTIC", [0], [2])]
    return save(tmp_path, tree(graph(tensors, steps, [0], [1])))
