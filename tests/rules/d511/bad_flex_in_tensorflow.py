"""Operators of TensorFlow itself, in a TensorFlow whose interpreter does not find them."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(
        "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter.",
        runtime={"runtime": "tensorflow", "version": "2.21.0"},
    )
