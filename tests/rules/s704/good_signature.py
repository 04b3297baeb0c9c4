"""A variable that another signature assigns: its caller runs that one first."""

from __future__ import annotations

from pathlib import Path

from tests.rules.s704.bad import ADD, assign, counting, handle, read
from tests.rules.small import graph, save, tensor, tree


def source(tmp_path: Path) -> Path:
    tensors = [tensor("start", [1, 4]), tensor("handle", [1], "RESOURCE")]
    other = graph(tensors, [handle(), assign()], [0], [])
    return save(tmp_path, tree(counting(handle(), read(), ADD), other))
