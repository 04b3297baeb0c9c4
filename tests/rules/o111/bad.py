"""A REVERSE_V2 along no axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4, 2]), tensor("axes", [0], "INT32", buffer=1), tensor("y", [4, 2])]
    step = operator("REVERSE_V2", [0, 1], [2])
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[np.array([1], np.int32)]))
