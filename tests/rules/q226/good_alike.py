"""One scale, and small channels that would gain next to nothing."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, WeightStatistics
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    weights = WeightStatistics(
        dtype="int8", scales=1, channels=32, weak_channels=1, sqnr_db=39.0, per_channel_sqnr_db=42.0
    )
    return drift(layer(2, weights=weights))
