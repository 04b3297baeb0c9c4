"""An input with the buffer of a constant."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4], buffer=1), tensor("y", [1, 4])]
    return save(tmp_path, tree(graph(tensors, [operator("TANH", [0], [1])], [0], [1]), buffers=[ones(1, 4)]))
