"""A RESHAPE to the shape the tensor has already."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 256]), tensor("y", [1, 256])]
    step = operator("RESHAPE", [0], [1], "ReshapeOptions", new_shape=[1, 256])
    return save(tmp_path, tree(graph(tensors, [step], [0], [1])))
