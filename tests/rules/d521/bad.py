"""A model that divides by one of its inputs, and all of them are zero."""

from __future__ import annotations

from pathlib import Path

from outlive.finding import OpPlace
from outlive.process.flight import Flight
from outlive.rules.death.d521_refused_values import RefusedValues

WORDS = "tflite/kernels/div.cc:262 data[i] != zero_point was not true.Node number 1 (DIV) failed to invoke."


def fact(tmp_path: Path, error: str = "RuntimeError") -> RefusedValues:
    """The fact; without an error the values were taken."""
    return RefusedValues(
        values="zeros",
        flight=Flight(died=False, stage="invoke", error_type=error, error_text=WORDS if error else ""),
        cause="constant-out-of-range",
        meaning="a divisor of DIV is zero",
        op=OpPlace(subgraph=0, index=1, type="DIV"),
    )
