"""Weights that use all that an int8 can hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    scaled = {"scale": [0.5], "zero_point": [0]}
    tensors = [
        tensor("x", [1, 16]),
        tensor("w", [8, 16], "INT8", buffer=1, quantization=scaled),
        tensor("y", [1, 8]),
    ]
    step = operator("FULLY_CONNECTED", [0, 1, -1], [2], "FullyConnectedOptions")
    return save(
        tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[(2 * np.arange(128) - 128).astype(np.int8)])
    )
