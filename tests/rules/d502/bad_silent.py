"""A complaint without a word while tensors were allocated: LiteRT has no words for missing memory."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import complaint


def fact(tmp_path: Path) -> Flight:
    return complaint("")
