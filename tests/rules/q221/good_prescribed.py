"""A softmax that is sure: its range ends one step before 1, whoever quantizes it."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    values = metrics(reference_min=0.0, reference_max=1.0, saturated_share=0.1)
    return drift(layer(4, "SOFTMAX", scale=1 / 256, zero_point=-128, metrics=values, born_here=values))
