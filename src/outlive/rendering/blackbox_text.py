"""A kernel's death as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.finding import Finding
from outlive.kernel_deaths.record import Record
from outlive.rendering.document import Json, document, finding_json


def death_json(record: Record, finding: Finding) -> Json:
    """The document of one death: the flight, the cell, and what the rules make of it."""
    return document("blackbox", _body(record, finding))


def deaths_json(rows: Sequence[tuple[Record, Finding]]) -> Json:
    """The document of all deaths."""
    return document("blackbox", {"deaths": [_body(record, finding) for record, finding in rows]})


def _body(record: Record, finding: Finding) -> Json:
    return {
        "name": record.name,
        "notebook": record.notebook,
        "folder": record.folder,
        "started": record.started,
        "ended": record.ended,
        "cell": {"number": record.cell_number, "source": record.cell_source, "seconds": record.cell_seconds},
        "recorder_lost": record.lost,
        **record.to_flight().to_json(),
        "findings": [finding_json(finding)],
    }
