"""An image with its channels first."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-layout", given=(1, 3, 224, 224))
