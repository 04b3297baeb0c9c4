"""An input that was calibrated with an outlier."""

from __future__ import annotations

from pathlib import Path

from outlive.quant.drift import Drift, InputRange
from tests.rules.drifts import drift


def fact(tmp_path: Path) -> Drift:
    return drift(input_ranges=(InputRange(name="sound", low=-1.1, high=0.9, can_hold=(-20.0, 19.8)),))
