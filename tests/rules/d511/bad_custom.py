"""An operator that nobody has registered."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint("Encountered unresolved custom op: MyOp.\nNode number 0 (MyOp) failed to prepare.")
