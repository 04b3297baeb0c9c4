"""A slim image without what TensorFlow draws with."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"
