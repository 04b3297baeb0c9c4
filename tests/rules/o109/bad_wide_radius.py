"""A normalisation over more channels than can be counted."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 2, 2, 8]), tensor("y", [1, 2, 2, 8])]
    shape = {"radius": 2**30, "bias": 1.0, "alpha": 0.5, "beta": 0.5}
    step = operator("LOCAL_RESPONSE_NORMALIZATION", [0], [1], "LocalResponseNormalizationOptions", **shape)
    return save(tmp_path, tree(graph(tensors, [step], [0], [1])))
