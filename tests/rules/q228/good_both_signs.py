"""Values of both signs."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(1, metrics=metrics(reference_min=-1.0, reference_max=3.5)))
