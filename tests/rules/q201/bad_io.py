"""Integers inside, floats at the ends, and uint8 was asked for."""

from __future__ import annotations

from pathlib import Path

from tests.rules.quantizing import dense_chain, expected


def facts(tmp_path: Path) -> dict[str, object]:
    return expected("uint8-io", dense_chain("INT8", "INT8", "FLOAT32"))
