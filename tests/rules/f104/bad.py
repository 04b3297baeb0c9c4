"""A pointer as Git LFS writes it."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    lines = ("version https://git-lfs.github.com/spec/v1", f"oid sha256:{'0f' * 32}", "size 14478912", "")
    return save(tmp_path, "\n".join(lines))
