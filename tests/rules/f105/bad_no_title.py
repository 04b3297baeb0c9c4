"""A page without a title, behind a byte order mark and blank lines."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, "\ufeff\n\n  <HTML><body>sign in</body></HTML>")
