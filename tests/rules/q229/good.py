"""A softmax with a clear winner."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    values = metrics(reference_min=0.0, reference_max=0.97)
    return drift(layer(4, "SOFTMAX", scale=1 / 256, zero_point=-128, metrics=values))
