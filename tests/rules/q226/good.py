"""A scale for each channel."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, WeightStatistics
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(2, weights=WeightStatistics(dtype="int8", scales=32, channels=32)))
