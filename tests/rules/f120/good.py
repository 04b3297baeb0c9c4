"""A model with a subgraph of no operators: it copies nothing, but it is whole."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, save, tensor, tree


def source(tmp_path: Path) -> Source:
    return save(tmp_path, tree(graph([tensor("x", [1])], [], [0], [0])))
