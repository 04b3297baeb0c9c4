"""A concatenation along a dimension that is not there."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor(name, [1, 4]) for name in "abc"]
    step = operator("CONCATENATION", [0, 1], [2], "ConcatenationOptions", axis=7)
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [2])))
