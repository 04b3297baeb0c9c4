"""An output of one value has no winner."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Drift
from tests.rules.drifts import drift, output


def fact(tmp_path: Path) -> Drift:
    return drift(outputs=(output(argmax_agreement=None),))
