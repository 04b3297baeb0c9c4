"""Finds the places of a real FlatBuffer that steer a reader: offsets, lengths, field lists, tags, indices.

    model bytes ──> find_sites ──> Site(at=96, width=4, kind="length", owner="SubGraph.tensors"), ...

It trusts nothing, as it is also given damaged models, and it shares only the schema's data with the reader.
"""

from __future__ import annotations

from contextlib import suppress
from struct import error, unpack_from
from typing import Literal, NamedTuple

from outlive.model.schema import Field, Schema, load_schema

SiteKind = Literal[
    "offset", "length", "vtable-offset", "vtable-size", "table-size", "slot", "tag", "scalar", "element"
]

_WIDTHS = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4,
    "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip
# A second FlatBuffer may lie in a metadata buffer.
_CARD_IDENTIFIER = b"M001"
_MAX_TABLES = 20_000
_MAX_ELEMENTS = 64


class Site(NamedTuple):
    """A few bytes that a reader has to believe or to check."""

    at: int
    width: int
    kind: SiteKind
    owner: str


class _Walk:
    def __init__(self, data: bytes, schema: Schema) -> None:
        self.data, self.schema = data, schema
        self.sites: list[Site] = []
        self.tables: list[tuple[int, str]] = []
        self._seen: set[tuple[int, str]] = set()

    def follow(self, at: int, owner: str) -> int:
        self.sites.append(Site(at, 4, "offset", owner))
        return at + int(unpack_from("<I", self.data, at)[0])

    def table(self, pos: int, name: str) -> None:
        if (pos, name) in self._seen or len(self._seen) >= _MAX_TABLES:
            return
        self._seen.add((pos, name))
        vtable = pos - unpack_from("<i", self.data, pos)[0]
        vtable_size, _ = unpack_from("<HH", self.data, vtable) if vtable >= 0 else (0, 0)
        self.tables.append((pos, name))
        self.sites.append(Site(pos, 4, "vtable-offset", name))
        self.sites.append(Site(vtable, 2, "vtable-size", name))
        self.sites.append(Site(vtable + 2, 2, "table-size", name))
        tag = 0
        for slot, field in enumerate(self.schema.tables[name][: max(vtable_size // 2 - 2, 0)]):
            at = vtable + 4 + 2 * slot
            self.sites.append(Site(at, 2, "slot", f"{name}.{field.name}"))
            offset = unpack_from("<H", self.data, at)[0]
            if offset:
                tag = self.field(pos + offset, field, f"{name}.{field.name}", tag)

    def field(self, at: int, field: Field, owner: str, tag: int) -> int:
        """Walk one field; gives the tag of the union that follows it, if it is one."""
        kind = field.type
        if kind.startswith("union-tag "):
            self.sites.append(Site(at, 1, "tag", owner))
            return self.data[at]
        if kind.startswith("union "):
            members = self.schema.unions[kind.removeprefix("union ")]
            member = members[tag] if tag < len(members) else ""
            self._child(at, member, owner)
        elif kind.startswith("["):
            self._vector(self.follow(at, owner), kind[1:-1], owner)
        elif kind == "string":
            self.sites.append(Site(self.follow(at, owner), 4, "length", owner))
        elif kind in self.schema.tables:
            self._child(at, kind, owner)
        else:
            self.sites.append(Site(at, self._width(kind), "scalar", owner))
        return 0

    def _child(self, at: int, table: str, owner: str) -> None:
        target = self.follow(at, owner)
        if table in self.schema.tables:
            self._quietly(target, table)

    def _vector(self, start: int, kind: str, owner: str) -> None:
        self.sites.append(Site(start, 4, "length", owner))
        count = unpack_from("<I", self.data, start)[0]
        width = self._width(kind)
        for index in range(min(count, _MAX_TABLES if kind in self.schema.tables else _MAX_ELEMENTS)):
            at = start + 4 + width * index
            if kind in self.schema.tables:
                self._quietly(self.follow(at, owner), kind)
            elif kind != "uint8":
                self.sites.append(Site(at, width, "element", owner))

    def _quietly(self, pos: int, table: str) -> None:
        with suppress(error, IndexError):
            self.table(pos, table)

    def _width(self, kind: str) -> int:
        enum = self.schema.enums.get(kind)
        return _WIDTHS.get(enum.scalar if enum else kind, 4)


def find_sites(data: bytes) -> tuple[Site, ...]:
    """All places that steer a reader, as far as the file can be walked."""
    return _walked(data)[0]


def find_tables(data: bytes) -> tuple[tuple[int, str], ...]:
    """Where each table is, and which."""
    return _walked(data)[1]


def _walked(data: bytes) -> tuple[tuple[Site, ...], tuple[tuple[int, str], ...]]:
    walk = _walk_from(0, _Walk(data, load_schema()), "Model")
    sites, card = walk.sites, data.find(_CARD_IDENTIFIER) - 4
    if card > 0:
        sites += _walk_from(card, _Walk(data, load_schema("metadata_schema")), "ModelMetadata").sites
    inside = tuple(site for site in sites if 0 <= site.at <= len(data) - site.width)
    return inside, tuple(walk.tables)


def _walk_from(root: int, walk: _Walk, table: str) -> _Walk:
    with suppress(error, IndexError):
        walk.table(walk.follow(root, table), table)
    return walk
