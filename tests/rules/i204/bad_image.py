"""Pixels from 0 to 255 for a model that takes floats."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-dtype", given_dtype="uint8")
