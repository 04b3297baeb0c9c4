"""Samples from 0 to 1 where the model takes bytes."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, InputRange
from tests.rules.drifts import drift


def fact(tmp_path: Path) -> Drift:
    return drift(input_ranges=(InputRange(name="image", low=0.0, high=1.0, can_hold=(0.0, 255.0)),))
