"""Two numbers that are the same for noise: not enough to say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    few = replace(row(3), size=2)
    seen = inside(row(0, varies=True), row(1, varies=True), few, runs=6)
    return {"flight": landed(inside=seen), "model": layers(tmp_path)}
