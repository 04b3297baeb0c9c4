"""A shape whose bytes do not fit a 63-bit number."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import relu, save


def source(tmp_path: Path) -> Source:
    return save(tmp_path, relu([2**30, 2**30, 2**30]))
