"""A library that was named took nothing."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import delegation, landing


def fact(tmp_path: Path) -> Flight:
    return landing(delegation=delegation(0, tuple((at, "CONV_2D") for at in range(12)), "libnpu.so"))
