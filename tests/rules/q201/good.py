"""Integers inside; floats at the ends are what int8 alone allows."""

from __future__ import annotations

from pathlib import Path

from tests.rules.quantizing import dense_chain, expected


def facts(tmp_path: Path) -> dict[str, object]:
    return expected("int8", dense_chain("INT8", "INT8", "FLOAT32"))
