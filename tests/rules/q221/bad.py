"""A layer whose range is too small."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(1, born_here=metrics(0.9, saturated_share=0.07, reference_max=9.5)))
