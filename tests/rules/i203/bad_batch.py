"""A batch of eight for a model that takes one."""

from __future__ import annotations

from pathlib import Path

from outlive.interpreter.judge import Call
from tests.rules.facts import call


def fact(tmp_path: Path) -> Call:
    return call("wrong-shape", given=(8, 224, 224, 3))
