"""A tensor that nothing fills, of which only the shape is asked."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("y", [2], "INT32")]
    step = operator("SHAPE", [0], [1], "ShapeOptions", out_type="INT32")
    return save(tmp_path, tree(graph(tensors, [step], [], [1])))
