"""Every byte was written."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import landing, output


def fact(tmp_path: Path) -> Flight:
    return landing(outputs=(output("boxes", (1, 10, 4), 0),))
