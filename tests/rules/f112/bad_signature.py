"""A signature whose tensor is not there."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    names = {"inputs": [{"name": "image", "tensor_index": 9}], "outputs": [{"name": "y", "tensor_index": 2}]}
    return save(tmp_path, dense(signature_defs=[{"signature_key": "serve", **names}]))
