"""A bias of a few thousand steps."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, WeightStatistics
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    weights = WeightStatistics(dtype="int8", scales=32, channels=32, bias_steps=4200.0, bias_room=2.14e9)
    return drift(layer(2, weights=weights))
