"""A quantized picture is made larger, and its scale is changed on the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree

SCALE = 0.25


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("x", [1, 2, 2, 3], "INT8", quantization={"scale": [0.5], "zero_point": [0]}),
        tensor("size", [2], "INT32", buffer=1),
        tensor("y", [1, 4, 4, 3], "INT8", quantization={"scale": [SCALE], "zero_point": [0]}),
    ]
    step = operator("RESIZE_BILINEAR", [0, 1], [2], "ResizeBilinearOptions")
    buffers = [np.array([4, 4], np.int32)]
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=buffers))
