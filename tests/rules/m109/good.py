"""Sparse weights that are small even when they are unpacked."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.m109 import bad


def source(tmp_path: Path) -> Source:
    return bad.source(tmp_path, rows=16)
