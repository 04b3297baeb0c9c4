"""Samples of zeros."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Quantized
from outlive.quant.drift import InputRange
from tests.rules.drifts import quantized


def fact(tmp_path: Path) -> Quantized:
    return quantized(input_ranges=(InputRange(name="image", low=0.0, high=0.0, can_hold=None),))
