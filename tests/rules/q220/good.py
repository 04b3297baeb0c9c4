"""All layers are alike; what is bad arrived from elsewhere."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(4, metrics=metrics(14.0, sqnr_db=7.9)))
