"""An ADD with a third input."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor(name, [1, 4]) for name in "abcd"]
    return save(
        tmp_path, tree(graph(tensors, [operator("ADD", [0, 1, 2], [3], "AddOptions")], [0, 1, 2], [3]))
    )
