"""An accelerator that is only left out of a ladder is no absence: there is a coverage, and no such fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rules.coverages import coverage


def facts(tmp_path: Path) -> dict[str, Any]:
    return {"coverage": coverage()}
