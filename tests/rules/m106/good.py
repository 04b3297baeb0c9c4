"""Floats that another operator reads too."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    scale = {"type": "INT8", "quantization": {"scale": [0.5], "zero_point": [3]}}
    tensors = [tensor("x", [256]) | scale, tensor("floats", [256]), tensor("y", [256]) | scale]
    steps = [operator("DEQUANTIZE", [0], [1]), operator("QUANTIZE", [1], [2]), operator("RELU", [1], [3])]
    return save(tmp_path, tree(graph([*tensors, tensor("z", [256])], steps, [0], [2, 3])))
