"""What each accelerator takes, as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from outlive.accelerators import Accelerator, Coverage, Documented
from outlive.finding import Finding
from outlive.rendering.document import Json, document, finding_json


def coverage_json(coverage: Coverage, findings: Sequence[Finding] = ()) -> Json:
    """The document of `outlive delegates`."""
    body = {
        "model": {"path": coverage.path, "sha256": coverage.sha256, "file_bytes": coverage.file_bytes},
        "runtime": dict(coverage.runtime),
        "accelerators": [_accelerator(one) for one in coverage.accelerators],
        "documented": [_documented(one) for one in coverage.documented],
        "unknown": list(coverage.unknown),
        "best": None if coverage.best is None else coverage.best.name,
        "findings": [finding_json(item) for item in findings],
    }
    return document("delegates", body)


def _accelerator(one: Accelerator) -> Json:
    difference, death = one.difference, one.death
    return {
        "name": one.name,
        "title": one.title,
        "available": one.available,
        "unavailable": one.unavailable or None,
        "install": one.install or None,
        "device": one.device or None,
        "software": one.is_software,
        "outcome": one.outcome,
        "ops_taken": one.ops_taken,
        "ops_total": one.ops_total,
        "taken": None if one.taken is None else list(one.taken),
        "partitions": one.partitions,
        "crossings": [
            {"tensor": item.tensor, "name": item.name, "bytes": item.bytes, "into": item.into}
            for item in one.crossings
        ],
        "refused": [
            {"op": item.op, "type": item.type, "reason": item.reason, "source": item.source}
            for item in one.refused
        ],
        "what_if": [
            {"type": w.type, "reason": w.reason, "ops_taken": w.ops_taken, "partitions": w.partitions}
            for w in one.what_ifs
        ],
        "compiles": one.compiles,
        "runs": one.runs,
        "error": one.error or None,
        "died": None
        if death is None
        else {
            "signal": death.signal or None,
            "exit_code": death.exit_code,
            "stage": death.stage,
            "ended_by": death.ended_by or None,
            "op": {"type": death.op_type, "index": death.op_index} if death.op_type else None,
            "headline": death.headline,
        },
        "culprit": None
        if one.culprit is None
        else {"ops": list(one.culprit.ops), "types": list(one.culprit.types), "how": one.culprit.how},
        "compared_with": None if difference is None else difference.against,
        "max_abs_difference": None if difference is None else difference.largest,
        "mean_abs_difference": None if difference is None else difference.mean,
        "normal_difference": None if difference is None else difference.allowed,
        "agrees_with": list(one.agrees_with),
        "not_compared": one.not_compared or None,
        "milliseconds": one.milliseconds,
        "compile_milliseconds": one.compile_milliseconds,
        "peak_bytes": one.peak_bytes,
        "notes": list(one.notes),
        "from_cache": one.from_cache,
    }


def _documented(one: Documented) -> Json:
    return {
        "name": one.name,
        "title": one.title,
        "tried": False,
        "document": one.document,
        "version": one.version,
        "date": one.date,
        "ops_listed": one.ops_listed,
        "ops_total": one.ops_total,
        "refused": [{"op": item.op, "type": item.type, "reason": item.reason} for item in one.refused],
        "note": one.note or None,
        "conditions": [{"type": kind, "words": words} for kind, words in one.conditions],
    }
