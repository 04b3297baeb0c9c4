"""A file that keeps still."""

from __future__ import annotations

from pathlib import Path

import outlive
from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    large = dense(buffers=[ones(9000, 4)], weights={"shape": [9000, 4]}, y={"shape": [1, 9000]})
    return outlive.read(save(tmp_path, large))  # type: ignore[return-value]
