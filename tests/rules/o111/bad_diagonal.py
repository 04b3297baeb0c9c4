"""A matrix whose diagonal is to be set to nothing: the kernel reads what is not there."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [3, 3]), tensor("diagonal", [0]), tensor("y", [3, 3])]
    step = operator("MATRIX_SET_DIAG", [0, 1], [2], "MatrixSetDiagOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [2])))
