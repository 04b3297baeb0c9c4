"""A slice whose ends are lengths and masked as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4]), *(tensor(name, [1], "INT32", buffer=at) for at, name in enumerate("abc", 1))]
    step = operator("STRIDED_SLICE", [0, 1, 2, 3], [4], "StridedSliceOptions", offset=True, end_mask=1)
    buffers = [np.array([value], np.int32) for value in (0, 1, 1)]
    return save(tmp_path, tree(graph([*tensors, tensor("y", [4])], [step], [0], [4]), buffers=buffers))
