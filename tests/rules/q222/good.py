"""A softmax, whose scale is fixed."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer


def fact(tmp_path: Path) -> Drift:
    return drift(layer(3, "SOFTMAX", scale=0.8))
