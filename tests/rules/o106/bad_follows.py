"""A convolution of floats with a bias of integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("w", [2, 4], buffer=1), tensor("b", [2], "INT32", buffer=2)]
    tensors += [tensor("y", [1, 2])]
    step = operator("FULLY_CONNECTED", [0, 1, 2], [3], "FullyConnectedOptions")
    buffers = [ones(2, 4), np.zeros(2, np.int32)]
    return save(tmp_path, tree(graph(tensors, [step], [0], [3]), buffers=buffers))
