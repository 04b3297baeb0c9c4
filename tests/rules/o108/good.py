"""A RELU, which has no options."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import relu, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, relu([1, 4]))
