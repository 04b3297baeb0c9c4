"""A pool of an image without its batch."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4, 4, 2]), tensor("y", [1, 2, 2, 2])]
    window = {"stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
    step = operator("MAX_POOL_2D", [0], [1], "Pool2DOptions", **window)
    return save(tmp_path, tree(graph(tensors, [step], [0], [1])))
