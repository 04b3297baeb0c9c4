"""All is finite."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift


def fact(tmp_path: Path) -> Drift:
    return drift()
