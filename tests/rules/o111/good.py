"""A CONCATENATION with nothing, which is fine."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("a", [1, 4]), tensor("b", [1, 0]), tensor("y", [1, 4])]
    step = operator("CONCATENATION", [0, 1], [2], "ConcatenationOptions", axis=1)
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [2])))
