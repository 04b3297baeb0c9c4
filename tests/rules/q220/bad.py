"""One layer makes far more error than the others."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, layer, metrics


def fact(tmp_path: Path) -> Drift:
    return drift(layer(2, born_here=metrics(12.0, sqnr_db=9.1), metrics=metrics(14.0, sqnr_db=7.9)))
