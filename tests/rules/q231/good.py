"""What is made of it is as good as it is."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(1, used_sqnr_db=36.0, used_by=2))
