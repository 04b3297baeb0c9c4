"""Weights of one scale, three channels of which are tiny."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, WeightStatistics
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    weights = WeightStatistics(
        dtype="int8", scales=1, channels=32, weak_channels=3, sqnr_db=18.2, per_channel_sqnr_db=43.7
    )
    return drift(layer(2, weights=weights))
