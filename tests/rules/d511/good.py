"""A run that went well."""

from __future__ import annotations

from pathlib import Path

from outlive.process.flight import Flight
from tests.rules.facts import landing


def fact(tmp_path: Path) -> Flight:
    return landing()
