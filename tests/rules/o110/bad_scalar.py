"""A LOG_SOFTMAX of a single number: the kernel takes the last of its dimensions."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", []), tensor("y", [])]
    return save(tmp_path, tree(graph(tensors, [operator("LOG_SOFTMAX", [0], [1])], [0], [1])))
