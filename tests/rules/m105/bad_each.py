"""Every operator that can turn out to do nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    order, nothing = np.array([0, 1], np.int32), np.zeros((2, 2), np.int64)
    tensors = [tensor(name, [2, 64]) for name in "abcdef"]
    tensors += [tensor("order", [2], "INT32", buffer=1), tensor("nothing", [2, 2], "INT64", buffer=2)]
    steps = [
        operator("TRANSPOSE", [0, 6], [1]),
        operator("PAD", [1, 7], [2]),
        operator("CAST", [2], [3], "CastOptions", in_data_type="FLOAT32", out_data_type="FLOAT32"),
        operator("CONCATENATION", [3], [4], "ConcatenationOptions", axis=0),
        operator("SQUEEZE", [4], [5]),
    ]
    return save(tmp_path, tree(graph(tensors, steps, [0], [5]), buffers=[order, nothing]))
