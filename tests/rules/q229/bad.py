"""A softmax over a thousand classes, none of which ever wins clearly."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    values = metrics(reference_min=0.0, reference_max=0.03, sqnr_db=4.8)
    row = layer(4, "SOFTMAX", scale=1 / 256, zero_point=-128, metrics=values, born_here=values)
    return drift(row)
