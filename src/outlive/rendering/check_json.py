"""What `outlive check` found, as a JSON document."""

from __future__ import annotations

from dataclasses import asdict

from outlive.arena.budget import Verdict
from outlive.rendering.document import Json, document, finding_json
from outlive.rules.checked import Checked


def check_json(checked: Checked) -> Json:
    """The document of one file."""
    reading, judgement = checked.reading, checked.judgement
    sha256 = None if reading.model is None else reading.model.sha256
    body: Json = {
        "model": {"path": reading.path, "sha256": sha256, "file_bytes": reading.file_bytes},
        "findings": [finding_json(finding) for finding in judgement.findings],
        "not_checked": [asdict(item) for item in judgement.not_checked],
        "verdict": None if checked.verdict is None else _verdict(checked.verdict),
    }
    return document("check", body)


def checks_json(documents: list[Json]) -> Json:
    """The document of several files."""
    return document("check", {"files": documents})


def _verdict(verdict: Verdict) -> Json:
    return {
        "word": verdict.word,
        "needed_bytes": verdict.needed_bytes,
        "margin_bytes": verdict.margin_bytes,
        "flash_margin_bytes": verdict.flash_margin_bytes,
        "reasons": list(verdict.reasons),
        "budget": {
            "kind": verdict.budget.kind,
            "title": verdict.budget.title,
            "ram_bytes": verdict.budget.ram_bytes,
        },
        "accelerator": verdict.plan.accelerator,
    }
