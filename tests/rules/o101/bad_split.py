"""A SPLIT in three that has lost an output."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("axis", [], "INT32", buffer=1), tensor("x", [1, 6])]
    tensors += [tensor(name, [1, 2]) for name in "ab"]
    step = operator("SPLIT", [0, 1], [2, 3], "SplitOptions", num_splits=3)
    return save(tmp_path, tree(graph(tensors, [step], [1], [2, 3]), buffers=[np.array(1, np.int32)]))
