"""An ADD of shapes that do not stretch to one."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("a", [1, 4]), tensor("b", [1, 3]), tensor("y", [1, 4])]
    return save(tmp_path, tree(graph(tensors, [operator("ADD", [0, 1], [2], "AddOptions")], [0, 1], [2])))
