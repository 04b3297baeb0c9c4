"""A layer whose values are good as a whole, and out of which the next one makes noise."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(1, used_sqnr_db=4.2, used_by=2))
