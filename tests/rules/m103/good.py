"""Tensors that only a signature, an intermediate result or another tensor's scales refer to."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    blocks = {
        "details_type": "BlockwiseQuantization",
        "details": {"scales": 2, "zero_points": -1, "block_size": 4},
    }
    tensors = [tensor("x", [4], quantization=blocks), tensor("y", [4]), tensor("scales", [1], buffer=1)]
    tensors += [tensor("inner", [4]), tensor("named", [4])]
    step = operator("RELU", [0], [1]) | {"intermediates": [3]}
    signature = {"signature_key": "serve", "inputs": [{"name": "named", "tensor_index": 4}], "outputs": []}
    made = graph(tensors, [step], [0], [1])
    return save(tmp_path, tree(made, buffers=[ones(1)], signature_defs=[signature]))
