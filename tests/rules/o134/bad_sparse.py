"""A dense layer of floats with sparse int8 weights, as the converter writes it for pruned models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    scaled: dict[str, Any] = {"quantization": {"scale": [0.5], "zero_point": [0]}}
    tensors = [
        tensor("x", [1, 4]),
        tensor("sparse", [2, 4], "INT8", buffer=1, sparsity=_sparsity(), **scaled),
        tensor("weights", [2, 4], "INT8", **scaled),
        tensor("y", [1, 2]),
    ]
    steps = [
        operator("DENSIFY", [1], [2], "DensifyOptions"),
        operator("FULLY_CONNECTED", [0, 2], [3], "FullyConnectedOptions"),
    ]
    buffers = [np.array([1, 2, 3], np.int8)]
    return save(tmp_path, tree(graph(tensors, steps, [0], [3]), buffers=buffers))


def _sparsity() -> dict[str, Any]:
    rows = {"format": "DENSE", "dense_size": 2}
    columns = {
        "format": "SPARSE_CSR",
        "array_segments_type": "Int32Vector",
        "array_segments": {"values": [0, 1, 3]},
        "array_indices_type": "Int32Vector",
        "array_indices": {"values": [0, 1, 3]},
    }
    return {"traversal_order": [0, 1], "dim_metadata": [rows, columns]}
