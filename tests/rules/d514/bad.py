"""A worker whose answer had a shape with a negative size."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import death


def fact(tmp_path: Path) -> Flight:
    text = "allocate: Expected `int` >= 0 - at `$.inputs[0].shape[1]`"
    return death("SIGKILL", ended_by="malformed", error_type="Malformed", error_text=text, frames=(), op=None)
