"""The record of a run as a JSON document."""

from __future__ import annotations

from outlive.finding import Finding
from outlive.rendering.document import Json, document, finding_json
from outlive.worker.flight import Flight


def flight_json(flight: Flight, path: str | None, findings: tuple[Finding, ...]) -> Json:
    """The document of `outlive run`: the flight, and what the rules make of it."""
    body = {
        "model": {"path": path},
        **flight.to_json(),
        "findings": [finding_json(item) for item in findings],
    }
    return document("run", body)
