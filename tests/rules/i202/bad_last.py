"""An image with its channels last, for a model that came from PyTorch."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-layout", wanted=(1, 3, 224, 224))
