"""Operators of TensorFlow itself."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(
        "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter."
    )
