"""A weight of 8-bit integers, of which nine in ten are zero."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    weights = np.zeros(8000, np.int8)
    weights[::10] = 7
    tensors = [tensor("y", [1]), tensor("weights", [8000], "INT8", buffer=1)]
    step = operator("aeq.hadamard_rotation", [1], [0])
    return save(tmp_path, tree(graph(tensors, [step], [], [0]), buffers=[weights]))
