"""An autopsy as a JSON document."""

from __future__ import annotations

from outlive.diagnosis.autopsy import Autopsy, Clue
from outlive.rendering.document import Json, document


def autopsy_json(autopsy: Autopsy) -> Json:
    """The document of `outlive autopsy`."""
    core, op = autopsy.core, autopsy.op
    body = {
        "source": autopsy.source,
        "found": autopsy.found,
        "cause": autopsy.cause or None,
        "stage": autopsy.stage or None,
        "op": None if op is None else {"subgraph": op.subgraph, "index": op.index, "type": op.type},
        "meaning": autopsy.meaning,
        "do": list(autopsy.do),
        "clues": [_clue(clue) for clue in autopsy.clues],
        "core": None
        if core is None
        else {
            "signal": core.signal,
            "command": core.command,
            "frames": list(core.frames),
            "tool": core.tool or None,
        },
    }
    return document("autopsy", body)


def _clue(clue: Clue) -> Json:
    match = clue.match
    return {
        "message": match.message.id,
        "source": match.message.source,
        "seen": match.message.seen,
        "line": clue.line_number,
        "count": clue.count,
        "text": match.line,
        "named": match.groups,
        "cause": match.message.cause or None,
        "meaning": match.meaning,
        "do": list(match.advice),
    }
