"""A bias scaled as input times weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    half = {"scale": [0.5], "zero_point": [0]}
    tensors = [
        tensor("x", [1, 4], "INT8", quantization=half),
        tensor("w", [2, 4], "INT8", buffer=1, quantization=half),
    ]
    tensors += [tensor("b", [2], "INT32", buffer=2, quantization={"scale": [0.25], "zero_point": [0]})]
    tensors += [tensor("y", [1, 2], "INT8", quantization=half)]
    step = operator("FULLY_CONNECTED", [0, 1, 2], [3], "FullyConnectedOptions")
    buffers = [np.arange(8, dtype=np.int8), np.ones(2, np.int32)]
    return save(tmp_path, tree(graph(tensors, [step], [0], [3]), buffers=buffers))
