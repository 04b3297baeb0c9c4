"""A state that grew over many runs: one run with other kernels says nothing about these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    stages = (("invoke", 0.1), ("invoke 2", 0.1))
    flight = landed(1, inside=inside(row(0), row(1), row(3)), stages=stages)
    return {"flight": flight, "model": layers(tmp_path, "DIV")}
