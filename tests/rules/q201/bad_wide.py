"""16 bits were asked for, and 8 are there."""

from __future__ import annotations

from pathlib import Path

from tests.rules.quantizing import dense_chain, expected


def facts(tmp_path: Path) -> dict[str, object]:
    return expected("int16", dense_chain("INT8", "INT8", "INT8"))
