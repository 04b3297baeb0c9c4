"""Eight-bit weights stored sparsely, one in sixteen."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path, rows: int = 64) -> Source:
    row = {
        "format": "SPARSE_CSR",
        "array_segments_type": "Uint16Vector",
        "array_segments": {"values": list(range(0, 8 * rows + 1, 8))},
        "array_indices_type": "Uint8Vector",
        "array_indices": {"values": list(range(0, 128, 16)) * rows},
    }
    sparsity = {"traversal_order": [0, 1], "dim_metadata": [{"format": "DENSE", "dense_size": rows}, row]}
    tensors = [tensor("y", [1]), tensor("weights", [rows, 128], "INT8", buffer=1, sparsity=sparsity)]
    step = operator("aeq.hadamard_rotation", [1], [0])
    kept = np.ones(8 * rows, np.int8)
    return save(tmp_path, tree(graph(tensors, [step], [], [0]), buffers=[kept]))
