"""XNNPACK has all of the operators, and took none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.facts import delegation, landing
from tests.rules.s703.bad import chain


def facts(tmp_path: Path) -> dict[str, Any]:
    flight = landing(delegation=delegation(0, tuple((at, "ABS") for at in range(12))))
    return {"flight": flight, "model": chain(tmp_path, "ABS", "FLOAT32")}
