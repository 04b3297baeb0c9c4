"""A variable that is assigned for the first time after it was read."""

from __future__ import annotations

from pathlib import Path

from tests.rules.s704.bad import ADD, assign, counting, handle, read
from tests.rules.small import save, tree


def source(tmp_path: Path) -> Path:
    return save(tmp_path, tree(counting(handle(), read(), ADD, assign(3))))
