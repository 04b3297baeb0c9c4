"""A worker that is in its sandbox."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> None:
    return None
