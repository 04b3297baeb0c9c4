"""A custom operator may act beyond its outputs, and so may whatever it reads."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor(name, [1, 256]) for name in ("x", "y", "seen", "unread")]
    steps = [operator("RELU", [0], [1]), operator("TANH", [0], [2]), operator("Log", [2], [3])]
    return save(tmp_path, tree(graph(tensors, steps, [0], [1])))
