"""An output that no input leads to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    seen = inside(row(0), row(1), row(3), runs=6)
    return {"flight": landed(inside=seen), "model": layers(tmp_path)}
