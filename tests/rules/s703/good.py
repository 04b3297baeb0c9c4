"""XNNPACK took some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.facts import delegation, landing
from tests.rules.s703.bad import chain


def facts(tmp_path: Path) -> dict[str, Any]:
    flight = landing(delegation=delegation(10, ((4, "CUMSUM"), (9, "CUMSUM"))))
    return {"flight": flight, "model": chain(tmp_path, "LOGICAL_NOT", "BOOL")}
