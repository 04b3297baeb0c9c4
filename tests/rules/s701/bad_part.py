"""The second half of an output was never written, and all of another."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import landing, output


def fact(tmp_path: Path) -> Flight:
    return landing(outputs=(output("scores", (1, 10), 20), output("classes", (1, 10), 10, "uint8")))
