"""Values at the limit that belong there, as zeros of a RELU do."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(1, born_here=metrics(at_limit_share=0.5)))
