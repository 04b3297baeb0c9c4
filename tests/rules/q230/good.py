"""Samples that fill half of the range."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, InputRange
from tests.rules.drifts import drift


def fact(tmp_path: Path) -> Drift:
    return drift(input_ranges=(InputRange(name="image", low=-0.5, high=0.6, can_hold=(-1.0, 0.992)),))
