"""What each table of the schema holds, in the form the writer walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from outlive.model.schema import load_schema

Kind = Literal["scalar", "string", "table", "union", "scalars", "strings", "tables"]

_SCALARS = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float32": 4, "float64": 8,
}  # fmt: skip
# The schema's force_align attributes, which schema.json does not carry (schema.fbs in LiteRT).
_FORCE_ALIGN = {
    ("Buffer", "data"): 16,
    ("CustomQuantization", "custom"): 16,
    ("Uint16Vector", "values"): 4,
    ("Uint8Vector", "values"): 4,
}
# Here a uint8 is a number; in every other byte vector it is a byte of something else.
_NUMERIC_BYTES = ("Uint8Vector", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a table: where it goes, and what it holds.

    ``of`` is a scalar's type (also of an enum, and of the elements of a vector), a table's name,
    or a union's. ``names`` are those an enum or the tag of a union can be given by. ``raw`` is a
    vector of bytes that stand for something else, such as ``Buffer.data``.
    """

    name: str
    slot: int
    kind: Kind
    of: str
    names: Mapping[str, int] | None
    default: float
    alignment: int
    raw: bool


@cache
def fields_of(table: str) -> Mapping[str, Field]:
    """The fields of a table by name, in the order of their slots."""
    rows = load_schema().tables[table]
    return {row.name: _field(table, slot, row.name, row.type, row.default) for slot, row in enumerate(rows)}


def members_of(union: str) -> tuple[str, ...]:
    """The tables a union can be, NONE first, so that a tag is an index."""
    return load_schema().unions[union]


def identifier() -> bytes:
    """The four bytes that mark the file."""
    return load_schema().identifier


def _field(table: str, slot: int, name: str, written: str, default: float) -> Field:
    element = written.removeprefix("[").removesuffix("]")
    one, of, names = _element(element)
    is_vector = element != written
    return Field(
        name=name,
        slot=slot,
        kind=_VECTORS[one] if is_vector else one,
        of=of,
        names=names,
        default=default,
        alignment=_FORCE_ALIGN.get((table, name), _SCALARS.get(of, 4)),
        raw=is_vector and of == "uint8" and (table, name) != _NUMERIC_BYTES,
    )


_VECTORS: Mapping[Kind, Kind] = {"scalar": "scalars", "string": "strings", "table": "tables"}


def _element(written: str) -> tuple[Kind, str, Mapping[str, int] | None]:
    enums = load_schema().enums
    if written in _SCALARS:
        return "scalar", written, None
    if written == "string":
        return "string", written, None
    if written in enums:
        enum = enums[written]
        return "scalar", enum.scalar, {word: number for number, word in enum.names.items()}
    if written.startswith("union-tag "):
        members = members_of(written.removeprefix("union-tag "))
        return "scalar", "uint8", {member: tag for tag, member in enumerate(members)}
    if written.startswith("union "):
        return "union", written.removeprefix("union "), None
    return "table", written, None
