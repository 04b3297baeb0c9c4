"""The integers that numpy makes by default, for a model that takes 32 bits."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-dtype", wanted_dtype="int32", given_dtype="int64")
