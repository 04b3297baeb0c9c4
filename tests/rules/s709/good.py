"""All inputs were set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import landed, layers


def facts(tmp_path: Path) -> dict[str, Any]:
    return {"flight": landed(), "model": layers(tmp_path)}
