"""As many subgraphs, each with bytes of its own."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import graph, save, tensor, tree


def source(tmp_path: Path) -> Source:
    empty = graph([tensor("x", [1])], [], [0], [0])
    return save(tmp_path, tree(*[empty] * 400))
