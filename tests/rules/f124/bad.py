"""A model whose file another program has cut short before its weights were looked at."""

from __future__ import annotations

import os
from pathlib import Path

import outlive
from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    large = dense(buffers=[ones(9000, 4)], weights={"shape": [9000, 4]}, y={"shape": [1, 9000]})
    path = save(tmp_path, large)
    model = outlive.read(path)
    os.truncate(path, 100_000)
    return model  # type: ignore[return-value]
