"""An int8 SVDF whose state is int8, as for TensorFlow Lite Micro: LiteRT's kernel writes int16 there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    scaled: dict[str, Any] = {"quantization": {"scale": [0.1], "zero_point": [0]}}
    tensors = [
        tensor("x", [1, 4], "INT8", **scaled),
        tensor("features", [8, 4], "INT8", buffer=1, **scaled),
        tensor("time", [8, 3], "INT16", buffer=2, **scaled),
        tensor("state", [1, 24], "INT8", is_variable=True, **scaled),
        tensor("y", [1, 8], "INT8", **scaled),
    ]
    step = operator("SVDF", [0, 1, 2, -1, 3], [4], "SVDFOptions", rank=1)
    buffers = [np.ones((8, 4), np.int8), np.ones((8, 3), np.int16)]
    return save(tmp_path, tree(graph(tensors, [step], [0], [4]), buffers=buffers))
