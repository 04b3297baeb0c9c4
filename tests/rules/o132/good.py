"""An open batch of one."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor(name, [1, 1], shape_signature=[-1, 1]) for name in "xy"]
    return save(tmp_path, tree(graph(tensors, [operator("TANH", [0], [1])], [0], [1])))
