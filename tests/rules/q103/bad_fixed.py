"""A SOFTMAX with a zero point that is not its own."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("a", [1, 4], "INT8", quantization={"scale": [0.5], "zero_point": [0]}),
        tensor("y", [1, 4], "INT8", quantization={"scale": [1 / 256], "zero_point": [0]}),
    ]
    step = operator("SOFTMAX", [0], [1], "SoftmaxOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [1])))
