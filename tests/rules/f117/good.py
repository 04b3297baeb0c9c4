"""An open dimension in the signature, where it belongs."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, dense(x={"shape_signature": [-1, 4]}, y={"shape_signature": [-1, 2]}))
