"""A picture as PyTorch has it, without a batch around it."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-shape", given=(3, 224, 224))
