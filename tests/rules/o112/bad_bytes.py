"""A table of rows with more bytes than its shape: the kernel divides the bytes."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("keys", [3], "INT32"), tensor("table", [2, 4], buffer=1), tensor("y", [3, 4])]
    step = operator("EMBEDDING_LOOKUP", [0, 1], [2])
    return save(tmp_path, tree(graph(tensors, [step], [0], [2]), buffers=[ones(10, 4)]))
