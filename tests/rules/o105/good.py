"""Two constants that share a buffer, as constants may."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("a", [1, 4], buffer=1), tensor("b", [1, 4], buffer=1)]
    tensors += [tensor("y", [1, 4]), tensor("z", [1, 4])]
    steps = [operator("ADD", [0, 1], [3], "AddOptions"), operator("MUL", [3, 2], [4], "MulOptions")]
    return save(tmp_path, tree(graph(tensors, steps, [0], [4]), buffers=[ones(1, 4)]))
