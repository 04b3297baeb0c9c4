"""What was handed over: the files of an export and the code of a snippet, as JSON."""

from __future__ import annotations

from outlive.exporting.micro import Export
from outlive.exporting.ports import Port
from outlive.exporting.snippets import Snippet
from outlive.rendering.document import Json, document, finding_json


def export_json(export: Export) -> Json:
    """The document of `outlive export`."""
    made, plan, verdict = export.sources, export.plan, export.verdict
    if made is None:
        findings = [finding_json(item) for item in export.findings]
        return document("export", {"path": export.path, "files": [], "findings": findings})
    arena = made.arena
    body = {
        "model": {"path": plan.path, "sha256": plan.sha256, "file_bytes": plan.file_bytes},
        "path": export.folder,
        "namespace": made.name,
        "files": [{"name": name, "file_bytes": len(text.encode())} for name, text in made.files],
        "arena_bytes": arena.bytes,
        "planned_bytes": arena.planned_bytes,
        "variable_bytes": arena.variable_bytes,
        "margin_bytes": arena.margin_bytes,
        "model_bytes": made.model_bytes,
        "exact": plan.exact,
        "unknown": list(plan.unknown),
        "assumed": list(plan.assumed),
        "operators": [
            {"type": item.operator, "function": item.function, "count": item.count} for item in made.adders
        ],
        "removed": list(export.removed),
        "verdict": None if verdict is None else verdict.word,
        "device": None if verdict is None else verdict.budget.title,
        "inputs": [_port(port) for port in made.layout.inputs],
        "outputs": [_port(port) for port in made.layout.outputs],
        "findings": [],
    }
    return document("export", body)


def snippet_json(made: Snippet) -> Json:
    """The document of `outlive snippet`: the code, and what it knows of the model."""
    layout = made.layout
    body = {
        "model": {"path": layout.path.text},
        "language": made.language,
        "file_name": made.file_name,
        "signature": None if layout.signature is None else layout.signature.text,
        "inputs": [_port(port) for port in layout.inputs],
        "outputs": [_port(port) for port in layout.outputs],
        "code": made.text,
    }
    return document("snippet", body)


def _port(port: Port) -> Json:
    return {
        "name": port.name.text,
        "variable": port.variable,
        "index": port.index,
        "shape": list(port.open_shape),
        "dtype": port.dtype,
        "scale": port.scale,
        "zero_point": port.zero_point if port.scale is not None else None,
    }
