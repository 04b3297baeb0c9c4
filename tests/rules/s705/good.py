"""A variable that a custom operator is given, which may write it."""

from __future__ import annotations

from pathlib import Path

from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Path:
    ends = [tensor("x", [1, 4]), tensor("state", [1, 4], is_variable=True), tensor("y", [1, 4])]
    return save(tmp_path, tree(graph(ends, [operator("Remember", [0, 1], [2])], [0], [2])))
