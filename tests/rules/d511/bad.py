"""A node that could not be prepared."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint(
        "gather.cc:95 axis < NumDimensions(input) was not true.\nNode number 3 (GATHER) failed to prepare."
    )
