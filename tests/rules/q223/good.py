"""A float input takes all."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, InputRange
from tests.rules.drifts import drift


def fact(tmp_path: Path) -> Drift:
    return drift(input_ranges=(InputRange(name="image", low=-3.0, high=1.5, can_hold=None),))
