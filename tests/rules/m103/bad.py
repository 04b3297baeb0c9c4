"""A tensor without a value that nothing uses."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4]), tensor("y", [4]), tensor("lost", [4])]
    return save(tmp_path, tree(graph(tensors, [operator("RELU", [0], [1])], [0], [1])))
