"""A scale for each channel."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.nouns import Drift, Weights
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(2, weights=Weights(dtype="int8", scales=32, channels=32)))
