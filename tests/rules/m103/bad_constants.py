"""Unused constants: one of its own, one that a tensor in use shares."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, ones, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    tensors = [tensor("x", [4]), tensor("used", [4], buffer=1), tensor("y", [4])]
    tensors += [tensor("lost", [8], buffer=2), tensor("shared", [4], buffer=1)]
    made = graph(tensors, [operator("ADD", [0, 1], [2])], [0], [2])
    return save(tmp_path, tree(made, buffers=[ones(4), ones(8)]))
