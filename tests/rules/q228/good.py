"""The same values with a zero point of their own."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    values = metrics(reference_min=0.0, reference_max=8.0)
    return drift(layer(1, metrics=values, zero_point=-128))
