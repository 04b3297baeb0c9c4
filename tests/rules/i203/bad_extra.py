"""A batch dimension that the model does not have."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-shape", wanted=(16000,), given=(1, 16000))
