"""A layer that makes NaN."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(2, metrics=metrics(not_finite=3)), layer(3, metrics=metrics(not_finite=8)))
