"""ADDs whose kernel sets the type of the output, whatever the file says; the next one reads it as set."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("a", [1, 4]), tensor("b", [1, 4]), tensor("y", [1, 4], "INT32"), tensor("z", [1, 4])]
    steps = [operator("ADD", [0, 1], [2], "AddOptions"), operator("ADD", [2, 0], [3], "AddOptions")]
    return save(tmp_path, tree(graph(tensors, steps, [0, 1], [3])))
