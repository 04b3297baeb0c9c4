"""Integers all the way."""

from __future__ import annotations

from pathlib import Path

from tests.rules.quantizing import dense_chain, expected


def facts(tmp_path: Path) -> dict[str, object]:
    return expected("int8-io", dense_chain("INT8", "INT8", "INT8"))
