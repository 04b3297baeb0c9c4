"""Flights as they were recorded: the JSON that `Flight.to_json` wrote, made a `Flight` again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outlive.meter import Timeline
from outlive.worker.flight import Flight, OpSeen, OutputSeen

FOLDER = Path(__file__).parent
# Fields that JSON holds as they are, and those that it holds only where there is something in them.
_PLAIN = (
    "died", "stage", "signal", "exit_code", "ended_by", "fault_address", "peak_bytes", "baseline_bytes",
    "stderr_tail", "fault_trace", "limits", "last_memory", "runtime", "untraced", "pid", "activity",
)  # fmt: skip


def recordings() -> list[Path]:
    """All recorded flights."""
    return sorted(FOLDER.glob("*.json"))


def load(path: Path) -> tuple[str, dict[str, Any]]:
    """The code of the finding that a recording must get, and the flight as JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return document["verdict"], document["flight"]


def rebuild(row: dict[str, Any]) -> Flight:
    """The flight that `to_json` wrote; the outputs' values are not part of a record."""
    error = row["error"] or {"type": "", "text": ""}
    return Flight(
        **{name: row[name] for name in _PLAIN},
        **{name: row[name] for name in ("machine", "planned") if name in row},
        variables=tuple(row.get("variables", ())),
        op=None if row["op"] is None else OpSeen(**row["op"]),
        op_candidates=tuple(row["op_candidates"]),
        frames=tuple(row["frames"]),
        division=None if row["division"] is None else tuple(row["division"].values()),
        error_type=error["type"],
        error_text=error["text"],
        outputs=tuple(map(_output, row["outputs"])),
        timeline=Timeline.from_json(row["timeline"]).points,
        stages=tuple((item["stage"], item["seconds"]) for item in row["stages"]),
        oom_kills=None if row["oom_kills"] is None else (row["oom_kills"][0], row["oom_kills"][1]),
    )


def _output(row: dict[str, Any]) -> OutputSeen:
    return OutputSeen(
        name=row["name"],
        index=row["index"],
        shape=tuple(row["shape"]),
        dtype=row["dtype"],
        minimum=row["min"],
        maximum=row["max"],
        sha256=row["sha256"],
    )
