"""TensorFlow was asked for, and is not installed."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ModuleNotFoundError: No module named 'tensorflow'"
