"""A sequence of any length, two elements long in the file, to which a constant of four elements is added."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("x", [1, 2, 3], shape_signature=[1, -1, 3]),
        tensor("positions", [1, 4, 3], buffer=1),
        tensor("y", [1, 2, 3], shape_signature=[1, -1, 3]),
    ]
    step = operator("ADD", [0, 1], [2], "AddOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[ones(1, 4, 3)]))
