"""A scale for each channel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    weights = tensor("w", [2, 4], "INT8", buffer=1, quantization={"scale": [0.5, 0.25], "zero_point": [0, 0]})
    tensors = [tensor("x", [1, 4]), weights, tensor("y", [1, 2])]
    step = operator("FULLY_CONNECTED", [0, 1, -1], [2], "FullyConnectedOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[np.arange(8, dtype=np.int8)]))
