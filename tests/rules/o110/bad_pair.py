"""An ATAN2 of a row and a number: the kernel does not stretch."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("y", [1, 4]), tensor("x", [4]), tensor("angle", [1, 4])]
    return save(tmp_path, tree(graph(tensors, [operator("ATAN2", [0, 1], [2])], [0, 1], [2])))
