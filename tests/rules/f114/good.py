"""A custom operator is not in the schema, and need not be."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    step = operator("MyOperator", [0], [1])
    return save(tmp_path, tree(graph([tensor("x", [1]), tensor("y", [1])], [step], [0], [1])))
