"""Flights as they were recorded: the JSON that `Flight.to_json` wrote, made a `Flight` again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outlive.process.flight import Flight
from outlive.records import read_part

FOLDER = Path(__file__).parent


def recordings() -> list[Path]:
    """All recorded flights."""
    return sorted(FOLDER.glob("*.json"))


def load(path: Path) -> tuple[str, dict[str, Any]]:
    """The code of the finding that a recording must get, and the flight as JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return document["verdict"], document["flight"]


def rebuild(row: dict[str, Any]) -> Flight:
    """The flight that `to_json` wrote; the outputs' values are not part of a record."""
    flight: Flight = read_part(row, Flight)
    return flight
