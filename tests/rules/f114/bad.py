"""An operator whose code is beyond the schema's last."""

from __future__ import annotations

from pathlib import Path

from outlive.model import Source
from tests.rules.small import dense, save


def source(tmp_path: Path) -> Source:
    codes = [{"builtin_code": 9999, "deprecated_builtin_code": 127}]
    return save(tmp_path, dense(operator_codes=codes))
