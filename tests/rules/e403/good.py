"""It is not installed at all."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ModuleNotFoundError: No module named 'ai_edge_litert'"
