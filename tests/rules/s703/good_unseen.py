"""A run without XNNPACK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.facts import landing
from tests.rules.s703.bad import chain


def facts(tmp_path: Path) -> dict[str, Any]:
    return {"flight": landing(), "model": chain(tmp_path, "LOGICAL_NOT", "BOOL")}
