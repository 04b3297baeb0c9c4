"""A model that no kernel takes."""

from __future__ import annotations

from pathlib import Path

from outlive.quant import Quantized
from tests.rules.drifts import quantized


def fact(tmp_path: Path) -> Quantized:
    return quantized(
        refusal="conv.cc:390 zero_point != 0 (4 != 0). Node number 1 (CONV_2D) failed to prepare"
    )
