"""A model that the quantizer refuses."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call


def fact(tmp_path: Path) -> Call:
    return Call(problem="quantizer-refused", text="ValueError: Unsupported op")
