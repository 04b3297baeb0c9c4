"""A library that nobody knows the bringer of."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: libvendor_npu.so.3: cannot open shared object file: No such file or directory"
