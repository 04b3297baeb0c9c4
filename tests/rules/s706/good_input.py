"""The model was given NaN: rules on inputs say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    seen = inside(row(0, not_finite=1), row(1, not_finite=1), row(3, not_finite=8), chosen=True)
    return {"flight": landed(8, inside=seen), "model": layers(tmp_path)}
