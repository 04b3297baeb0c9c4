"""Sparse weights with a description that ends early."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    sparse = {"traversal_order": [0], "block_map": [0], "dim_metadata": []}
    return save(tmp_path, dense(weights={"sparsity": sparse}))
