"""Nothing was quantized."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Quantized
from tests.rules.drifts import quantized


def fact(tmp_path: Path) -> Quantized:
    return quantized("float", "no weights")
