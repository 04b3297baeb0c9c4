"""Hundreds of subgraphs, all of them the same bytes."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.properties.assembly import Assembly
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    file = Assembly()
    file.table("Model", "root", version=3, subgraphs="graphs", buffers="none")
    file.vector("graphs", ["graph"] * 400)
    file.table("SubGraph", "graph", tensors="none", debug_metadata_index=bytes(64))
    file.vector("none", [])
    return save(tmp_path, file.finish())
