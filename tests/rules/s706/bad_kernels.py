"""Only the kernels of XNNPACK make them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.facts import delegation
from tests.rules.s706.bad import inside, landed, layers, row


def facts(tmp_path: Path) -> dict[str, Any]:
    flight = landed(1, inside=inside(row(0), row(1), row(3)), delegation=delegation(12, ()))
    return {"flight": flight, "model": layers(tmp_path)}
