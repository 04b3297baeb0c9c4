"""XNNPACK took all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.facts import delegation, landing
from tests.rules.s703.bad import chain


def facts(tmp_path: Path) -> dict[str, Any]:
    return {"flight": landing(delegation=delegation(12, ())), "model": chain(tmp_path, "ABS", "FLOAT32")}
