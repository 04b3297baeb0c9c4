"""A division by an input of zero."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import EVAL, death


def fact(tmp_path: Path) -> Flight:
    return death("SIGFPE", frames=("tflite::reference_ops::FloorMod", *EVAL))
