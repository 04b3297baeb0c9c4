"""An operator reads what another one ought to have written."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("y", [1, 4])]
    return save(tmp_path, tree(graph(tensors, [operator("TANH", [0], [1])], [], [1])))
