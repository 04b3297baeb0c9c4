"""A layer whose range is much too wide."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(3, scale=0.8))
