"""As many rows as there are true elements."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4], "BOOL"), tensor("y", [4, 1], "INT64")]
    return save(tmp_path, tree(graph(tensors, [operator("WHERE", [0], [1])], [0], [1])))
