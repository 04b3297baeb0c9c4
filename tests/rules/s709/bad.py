"""An input that nobody set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.s706.bad import landed, layers


def facts(tmp_path: Path) -> dict[str, Any]:
    return {"flight": landed(unset_inputs=((0, "x"),)), "model": layers(tmp_path)}
