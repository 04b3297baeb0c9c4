"""The TensorFlow Lite schema as data of our own: importing the runtime's would load its native library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from struct import calcsize
from typing import Any

FORMATS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """One field of a table: its slot is its place in the table's list."""

    name: str
    type: str
    default: int | float = 0
    format: str = "I"  # how what stands in the table itself is read: a number, or an offset
    width: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """An enum: the scalar that carries it, and the name of each value."""

    name: str
    scalar: str
    names: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """TableVector, enums and unions of one FlatBuffer schema."""

    identifier: bytes
    enums: Mapping[str, Enumeration]
    unions: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, tuple[Field, ...]]


@cache
def load_schema(name: str = "schema") -> Schema:
    """The model schema, or `metadata_schema` for the FlatBuffers inside metadata buffers."""
    document = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    enums = {
        key: Enumeration(
            name=key, scalar=entry["type"], names={number: word for word, number in entry["values"].items()}
        )
        for key, entry in document["enums"].items()
    }
    tables = {key: tuple(_field(row, enums) for row in rows) for key, rows in document["tables"].items()}
    return Schema(
        identifier=document["identifier"].encode(),
        enums=enums,
        unions={key: tuple(members) for key, members in document["unions"].items()},
        tables=tables,
    )


def _field(row: list[Any], enums: Mapping[str, Enumeration]) -> Field:
    kind = str(row[1])
    scalar = "uint8" if kind.startswith("union-tag") else enums[kind].scalar if kind in enums else kind
    code = FORMATS.get(scalar, "I")
    default = row[2] if len(row) > 2 else 0
    return Field(name=row[0], type=kind, default=default, format=code, width=calcsize("<" + code))
