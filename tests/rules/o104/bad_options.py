"""An ADD in place: with its options, the runtime refuses that."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [1, 4]), tensor("y", [1, 4])]
    step = operator("ADD", [0, 1], [1], "AddOptions")
    return save(tmp_path, tree(graph(tensors, [step], [0, 1], [1])))
