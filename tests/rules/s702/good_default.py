"""XNNPACK left some, and was not asked for."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import delegation, landing


def fact(tmp_path: Path) -> Flight:
    return landing(delegation=delegation(10, ((4, "CUMSUM"), (9, "CUMSUM"))))
