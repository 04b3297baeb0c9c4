"""A compressed constant without segments, which its reader takes for dense: the runtime refuses the file."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    sparse = {"traversal_order": [0], "dim_metadata": [{"format": "SPARSE_CSR"}]}
    tensors = [tensor("x", [4]), tensor("w", [4], buffer=1, sparsity=sparse), tensor("y", [4])]
    step = operator("MUL", [0, 1], [2], "MulOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[ones(4)]))
