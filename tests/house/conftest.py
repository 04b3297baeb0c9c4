"""Small trees with a fault in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Plant = Callable[[dict[str, str]], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Give it file names and texts; it writes a package `outlive` and gives its folder."""

    def write(files: dict[str, str]) -> Path:
        package = tmp_path / "src" / "outlive"
        for name, text in files.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return package

    return write
