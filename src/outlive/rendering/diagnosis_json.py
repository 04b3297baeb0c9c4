"""A diagnosis as a JSON document."""

from __future__ import annotations

from outlive.diagnosis.nouns import Diagnosis, Trial
from outlive.rendering.document import Json, document, finding_json
from outlive.worker.flight import OpSeen


def diagnosis_json(diagnosis: Diagnosis) -> Json:
    """The document of `outlive diagnose`."""
    made = diagnosis.reproducer
    body = {
        "model": {"path": diagnosis.path},
        "verdict": None if diagnosis.verdict is None else finding_json(diagnosis.verdict),
        "cause": diagnosis.cause or None,
        "died": diagnosis.died,
        "stage": diagnosis.stage,
        "signal": diagnosis.signal,
        "op": _op(diagnosis.op),
        "running_op": _op(diagnosis.running),
        "needed_op": _op(diagnosis.needed),
        "works_with": list(diagnosis.works_with),
        "ruled_out": list(diagnosis.ruled_out),
        "reproducer": None
        if made is None
        else {"path": made.path, "ops": list(made.ops), "bytes": made.bytes, "script": made.script},
        "flights": [trial_json(trial) for trial in diagnosis.trials],
        "findings": [finding_json(finding) for finding in diagnosis.findings],
    }
    return document("diagnose", body)


def trial_json(trial: Trial) -> Json:
    """One flight with what was different about it."""
    conditions = trial.conditions
    told = {
        "name": trial.name,
        "manner": trial.manner,
        "seconds": trial.seconds,
        "conditions": {
            "accelerator": conditions.accelerator,
            "threads": conditions.threads,
            "memory_bytes": conditions.memory_bytes,
            "seconds": conditions.seconds,
            "environment": dict(conditions.environment),
            "from_bytes": isinstance(conditions.source, bytes),
        },
    }
    return {**told, **trial.flight.to_json()}


def _op(op: OpSeen | None) -> Json | None:
    return None if op is None else {"subgraph": op.subgraph, "index": op.index, "type": op.type}
