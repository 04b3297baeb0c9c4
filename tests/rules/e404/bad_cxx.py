"""The C++ library is the one that is too old."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: libstdc++.so.6: version `GLIBCXX_3.4.32' not found"
