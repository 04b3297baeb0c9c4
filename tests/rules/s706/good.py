"""A division by zero, of random numbers that nobody chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    seen = inside(row(0), row(1), row(3, not_finite=1))
    return {"flight": landed(1, inside=seen), "model": layers(tmp_path, "DIV")}
