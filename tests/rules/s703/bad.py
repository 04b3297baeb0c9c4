"""XNNPACK took nothing."""

from __future__ import annotations

from pathlib import Path

from outlive.worker.flight import Flight
from tests.rules.facts import delegation, landing


def fact(tmp_path: Path) -> Flight:
    return landing(delegation=delegation(0, tuple((at, "LOGICAL_NOT") for at in range(12))))
