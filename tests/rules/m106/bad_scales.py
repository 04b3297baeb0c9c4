"""Two pairs, with another scale behind each."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    def quantized(name: str, scale: float) -> dict[str, object]:
        return tensor(name, [256], "INT8", quantization={"scale": [scale], "zero_point": [0]})

    tensors = [quantized("a", 0.5), tensor("b", [256]), quantized("c", 0.25)]
    tensors += [tensor("d", [256]), quantized("e", 0.125)]
    steps = [operator("DEQUANTIZE", [0], [1]), operator("QUANTIZE", [1], [2])]
    steps += [operator("DEQUANTIZE", [2], [3]), operator("QUANTIZE", [3], [4])]
    return save(tmp_path, tree(graph(tensors, steps, [0], [4])))
