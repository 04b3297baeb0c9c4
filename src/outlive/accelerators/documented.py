"""Accelerators that are not to be had here, judged by the tables of operators that their documents have.

A table says which operators may be taken, never that they are: nothing of it was tried. Each is a data file
in `documented/`, with the document, its version and its date. What no table could be read for is unknown.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from outlive.accelerators.nouns import Condition, Documented, Refusal
from outlive.model import Model, Operator

# Of these no table of operators could be read: what is not known is not guessed.
UNKNOWN = ("nnapi", "edge-tpu", "qualcomm-npu", "mediatek-npu")
_NOT_LISTED = "not in its table"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    name: str
    title: str
    document: str
    version: str
    date: str
    dtypes: tuple[str, ...]
    most_rank: int | None
    operators: Mapping[str, str]
    note: str = ""


def documented_coverage(model: Model) -> tuple[Documented, ...]:
    """What the documents of accelerators say of this model's operators."""
    return tuple(_judge(table, model) for table in _tables())


@functools.cache
def _tables() -> tuple[_Table, ...]:
    folder = resources.files("outlive.accelerators") / "documented"
    files = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".json")), key=lambda e: e.name
    )
    return tuple(_table(json.loads(entry.read_text(encoding="utf-8"))) for entry in files)


def _table(body: Mapping[str, Any]) -> _Table:
    return _Table(**{**body, "dtypes": tuple(body["dtypes"])})


def _judge(table: _Table, model: Model) -> Documented:
    operators = model.subgraphs[0].operators
    refused = [
        Refusal(op=operator.index, type=operator.name, reason=reason, source=table.document)
        for operator in operators
        if (reason := _why_not(table, model, operator))
    ]
    stay = {refusal.op for refusal in refused}
    types = sorted({operator.type for operator in operators if operator.index not in stay})
    return Documented(
        name=table.name,
        title=table.title,
        document=table.document,
        version=table.version,
        date=table.date,
        ops_total=len(operators),
        ops_listed=len(operators) - len(refused),
        refused=tuple(refused),
        note=table.note,
        conditions=tuple(Condition(kind, table.operators[kind]) for kind in types if table.operators[kind]),
    )


def _why_not(table: _Table, model: Model, operator: Operator) -> str:
    """Why the document leaves this operator out; empty if it lists it."""
    if operator.type not in table.operators:
        return _NOT_LISTED
    tensors = model.subgraphs[0].tensors
    made = [tensors[index] for index in operator.outputs if 0 <= index < len(tensors)]
    if table.dtypes and any(tensor.dtype not in table.dtypes for tensor in made):
        return f"it makes {_first(made, table.dtypes)}, and only {', '.join(table.dtypes)} are taken"
    if table.most_rank is not None and any(len(tensor.shape) > table.most_rank for tensor in made):
        return f"it makes a tensor of more than {table.most_rank} dimensions"
    return ""


def _first(made: Sequence[Any], dtypes: Sequence[str]) -> str:
    return next(str(tensor.dtype) for tensor in made if tensor.dtype not in dtypes)
