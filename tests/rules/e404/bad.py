"""A package of a newer system."""

from __future__ import annotations

from pathlib import Path


def fact(tmp_path: Path) -> str:
    return "ImportError: /lib/libc.so.6: version `GLIBC_2.34' not found (required by libLiteRt.so)"
