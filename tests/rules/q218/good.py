"""The second try is good enough."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import MixedStep, Quantized
from tests.rules.drifts import quantized


def fact(tmp_path: Path) -> Quantized:
    first = MixedStep(kept=(), file_bytes=250_000, sqnr_db=20.0, agreement=0.9, met=False)
    second = MixedStep(kept=("conv0",), file_bytes=500_000, sqnr_db=28.0, agreement=0.97, met=True)
    return quantized(steps=(first, second))
