"""A custom operator without a name."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    codes = [{"builtin_code": "CUSTOM", "deprecated_builtin_code": 32}]
    return save(tmp_path, dense(operator_codes=codes))
