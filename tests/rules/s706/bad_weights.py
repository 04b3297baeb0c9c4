"""The weights hold NaN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row
from tests.rules.small import noise


def facts(tmp_path: Path) -> dict[str, Any]:
    weights = noise(8, 8)
    weights[0, 3] = float("nan")
    seen = inside(row(0), row(1), row(3, not_finite=8))
    return {"flight": landed(8, inside=seen), "model": layers(tmp_path, weights=weights)}
