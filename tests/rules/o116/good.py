"""A constant that is no input."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("w", [1, 4], buffer=1), tensor("y", [1, 4])]
    step = operator("ADD", [0, 1], [2], "AddOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[ones(1, 4)]))
