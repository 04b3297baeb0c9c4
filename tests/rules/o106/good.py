"""An ADD whose kernel sets the type of the output, whatever the file says."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("a", [1, 4]), tensor("b", [1, 4]), tensor("y", [1, 4], "INT32")]
    return save(tmp_path, tree(graph(tensors, [operator("ADD", [0, 1], [2], "AddOptions")], [0, 1], [2])))
