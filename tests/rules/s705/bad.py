"""A variable that is added to the input, and that nothing writes."""

from __future__ import annotations

from pathlib import Path

from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Path:
    ends = [tensor("x", [1, 4]), tensor("state", [1, 4], is_variable=True), tensor("y", [1, 4])]
    return save(tmp_path, tree(graph(ends, [operator("ADD", [0, 1], [2], "AddOptions")], [0], [2])))
