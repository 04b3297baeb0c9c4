"""A model in whose place another file lies by now."""

from __future__ import annotations

from pathlib import Path

import outlive
from outlive.model import Source
from tests.rules.small import dense, ones, save


def source(tmp_path: Path) -> Source:
    large = dense(buffers=[ones(9000, 4)], weights={"shape": [9000, 4]}, y={"shape": [1, 9000]})
    path = Path(save(tmp_path, large))
    model = outlive.read(path)
    other = tmp_path / "other.tflite"
    other.write_bytes(path.read_bytes())
    other.replace(path)
    return model  # type: ignore[return-value]
