"""Three updates for two places."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [
        tensor("places", [2, 1], "INT32"),
        tensor("updates", [3]),
        tensor("shape", [1], "INT32", buffer=1),
        tensor("y", [4]),
    ]
    step = operator("SCATTER_ND", [0, 1, 2], [3], "ScatterNdOptions")
    buffers = [np.array([4], np.int32)]
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [3]), buffers=buffers))
