"""Sparse weights, described as the kernel needs them."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    rows = {"format": "DENSE", "dense_size": 2}
    kinds = {"array_segments_type": "Uint8Vector", "array_indices_type": "Uint8Vector"}
    lists = {"array_segments": {"values": [0, 1, 2]}, "array_indices": {"values": [0, 3]}}
    columns = {"format": "SPARSE_CSR", **kinds, **lists}
    sparse = {"traversal_order": [0, 1], "dim_metadata": [rows, columns]}
    return save(tmp_path, dense(weights={"sparsity": sparse}, buffers=[ones(2)]))
