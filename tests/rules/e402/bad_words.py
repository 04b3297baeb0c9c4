"""The same in the words of numpy."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: A module that was compiled using NumPy 1.x cannot be run in NumPy 2.2.6 (tensorflow)"
