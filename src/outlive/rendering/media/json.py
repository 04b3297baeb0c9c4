"""A result as a JSON document, and back: what is in it says the result's class (`outlive.records`)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from outlive.records import SCHEMA, Json, document_of, read_result, schema_of

__all__ = ["KINDS", "SCHEMA", "Json", "classes_of", "document_of", "dump", "read_document", "schema_of_kind"]

# The classes whose documents have a kind: that of a result, and those of what there is in place of one.
KINDS: Mapping[str, tuple[str, ...]] = {
    "read": ("fitting.file_read.FileRead", "fitting.file_read.FilesRead"),
    "plan": ("arena.plan.Plan", "arena.plan.NotPlanned"),
    "run": ("worker.flight.Flight", "worker.flight.NotStarted"),
    "check": ("fitting.checking.Checked", "fitting.checking.CheckedFiles"),
    "diagnose": ("diagnosis.nouns.Diagnosis",),
    "delegates": ("accelerators.nouns.Coverage",),
    "compare": ("quant.nouns.Drift",),
    "quantize": ("quant.nouns.Quantized",),
    "leak": ("growth.growth.Growth",),
    "fit": ("fitting.nouns.Fit",),
    "scan": ("fleet.scanning.Scan",),
    "scan-row": ("fleet.rows.Row",),
    "autopsy": ("diagnosis.autopsy.Autopsy",),
    "cut": ("surgery.cutting.Cut",),
    "checkup": ("cli.commands.checkup.Checkup",),
    "explain": ("rules.engine.RuleList",),
    "doctor": ("environment.checkup.DoctorReport",),
    "export": ("exporting.micro.Export", "exporting.micro.NotExported"),
    "snippet": ("exporting.snippets.Snippet",),
    "report": ("rendering.html.report_page.Examination",),
    "blackbox": ("kernel_deaths.record.KernelDeath", "kernel_deaths.record.KernelDeaths"),
    "devices": ("arena.devices.DeviceList",),
}
# What is read back, and how much of it at most.
_READ_BACK = ("plan", "run", "scan-row")
_MOST_BYTES = 256 << 20


def classes_of(kind: str) -> tuple[type[Any], ...]:
    """The classes with documents of this kind, the result's own first."""
    places = (place.rpartition(".") for place in KINDS[kind])
    return tuple(getattr(import_module(f"outlive.{module}"), name) for module, _, name in places)


def schema_of_kind(kind: str) -> Json:
    """The JSON Schema of documents of this kind."""
    return schema_of(classes_of(kind))


def dump(value: object) -> str:
    """A document as text, valid whatever a file holds: names that are no Unicode are escaped too."""
    return json.dumps(_finite(value), indent=1, allow_nan=False, default=str)


def read_document(text: str | bytes, most_bytes: int = _MOST_BYTES) -> Any:
    """The result that a document was made of; ValueError if it is none, or of a kind not read back."""
    if len(text) > most_bytes:
        raise ValueError(f"a document of {len(text):,} bytes is larger than {most_bytes:,}")
    try:
        head = json.loads(text)
    except RecursionError as error:
        raise ValueError(f"it is no document: {error}") from error
    kind = head.get("kind") if isinstance(head, dict) else None
    if kind not in _READ_BACK:
        raise ValueError(f"it is no document of a kind that is read back: {', '.join(_READ_BACK)}")
    return read_result(head, classes_of(kind)[0])


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
