"""Weights of a dense layer that nobody quantized."""

from __future__ import annotations

from pathlib import Path

from tests.rules.quantizing import expected, weighted


def facts(tmp_path: Path) -> dict[str, object]:
    return expected("dynamic", weighted("FLOAT32"))
