"""Pixels from 0 to 255 for a model that takes -128 to 127."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-dtype", wanted_dtype="int8", given_dtype="uint8")
