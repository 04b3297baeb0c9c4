"""A CONCATENATION of int8 whose ends are scaled apart."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("a", [1, 4], "INT8", quantization={"scale": [0.5], "zero_point": [0]}),
        tensor("b", [1, 4], "INT8", quantization={"scale": [0.25], "zero_point": [0]}),
        tensor("y", [1, 4], "INT8", quantization={"scale": [0.5], "zero_point": [0]}),
    ]
    step = operator("CONCATENATION", [0, 1], [2], "ConcatenationOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [2])))
