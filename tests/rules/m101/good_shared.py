"""Two tensors that share one buffer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("y", [1]), tensor("a", [100], buffer=1), tensor("b", [100], buffer=1)]
    values = np.ones(100, np.float32)
    return save(tmp_path, tree(graph(tensors, [operator("Gather", [1, 2], [0])], [], [0]), buffers=[values]))
