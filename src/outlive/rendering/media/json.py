"""A result as a JSON document, and back: what is in it says the result's class (`outlive.records`)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from outlive.finding import Finding
from outlive.records import SCHEMA, Json, ModelPath, document_of, read_result

__all__ = ["SCHEMA", "Json", "document_of", "dump", "read_document", "refusal_document"]

# What is read back, by kind, and how much of it at most.
_READ_BACK: Mapping[str, tuple[str, str]] = {
    "plan": ("outlive.arena.plan", "Plan"),
    "run": ("outlive.process.flight", "Flight"),
    "scan-row": ("outlive.fleet.rows", "Row"),
}
_MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why there is no result, in a document of the kind that was asked for."""

    kind: ClassVar[str] = ""

    model: ModelPath
    findings: tuple[Finding, ...]


def refusal_document(kind: str, path: str, findings: Sequence[Finding]) -> Json:
    """The document of a kind where there is no result: which file, and why."""
    return document_of(Refused(model=ModelPath(path=path), findings=tuple(findings)), kind=kind)


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
    kind: Any = head.get("kind") if isinstance(head, dict) else None
    if not isinstance(kind, str) or kind not in _READ_BACK:
        raise ValueError(f"it is no document of a kind that is read back: {', '.join(_READ_BACK)}")
    module, name = _READ_BACK[kind]
    return read_result(head, getattr(import_module(module), name))


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
