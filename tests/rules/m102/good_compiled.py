"""A model compiled for an NPU, whose operator knows its buffer itself."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, operator, save, tensor, tree


def source(tmp_path: Path) -> Source:
    made = graph([tensor("x", [1]), tensor("y", [1])], [operator("DISPATCH_OP", [0], [1])], [0], [1])
    return save(tmp_path, tree(made, buffers=[b"code for the NPU"]))
