"""Half of the winners are others."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, output


def fact(tmp_path: Path) -> Drift:
    return drift(outputs=(output(argmax_agreement=0.5),))
