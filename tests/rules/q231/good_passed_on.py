"""Noise that came from before, and is only passed on."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    total = metrics(mean_squared_error=0.01, sqnr_db=22.0)
    return drift(layer(1, used_sqnr_db=4.2, used_by=2, metrics=total))
