"""JSON documents: every one says its schema and kind, and is valid whatever a file holds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from outlive.finding import Finding

SCHEMA = "outlive/1"

Json = dict[str, object]


def document(kind: str, body: Mapping[str, object]) -> Json:
    """A document of this kind."""
    return {"schema": SCHEMA, "kind": kind, **body}


def dump(value: object) -> str:
    """The document as text. JSON has no NaN and no infinity: they are written as the strings of that name."""
    return json.dumps(_finite(value), indent=1, allow_nan=False, default=str)


def finding_json(finding: Finding) -> Json:
    """A finding with the fields of the contract."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "headline": finding.headline,
        "where": finding.where,
        "why": finding.why,
        "evidence": [{"fact": item.fact, "source": item.source} for item in finding.evidence],
        "remedies": [
            {"action": item.action, "effect": item.effect, "command": item.command, "tag": item.tag.value}
            for item in finding.remedies
        ],
        "confidence": finding.confidence,
        "fault": finding.fault.value,
        "cause": finding.cause,
        "op": None
        if finding.op is None
        else {"subgraph": finding.op.subgraph, "index": finding.op.index, "type": finding.op.type},
    }


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, memoryview):
        return {"bytes": value.nbytes}
    return value
