"""16-bit integers that are not centred."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("a", [1, 4], "INT16", quantization={"scale": [0.5], "zero_point": [0]}),
        tensor("b", [1, 4], "INT16", quantization={"scale": [0.5], "zero_point": [3]}),
        tensor("y", [1, 4], "INT16", quantization={"scale": [0.5], "zero_point": [0]}),
    ]
    step = operator("ADD", [0, 1], [2], "AddOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [2])))
