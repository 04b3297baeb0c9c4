"""Puts FlatBuffers together by hand, as no honest writer would: tables and vectors one after the other.

Offsets to labels are filled in at the end; they only lead forward.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from outlive.model.schema import load_schema

Value = int | str | bytes  # a number, the label of what an offset leads to, or the field's bytes as they are


class Assembly:
    """A FlatBuffer put together by hand."""

    def __init__(self, schema: str = "schema") -> None:
        self._schema = load_schema(schema)
        self._data = bytearray(b"\0\0\0\0" + self._schema.identifier)
        self._places: dict[str, int] = {}
        self._offsets: list[tuple[int, str]] = [(0, "root")]

    def table(self, kind: str, label: str, **fields: Value) -> None:
        """A table with its field list in front of it; every field takes four bytes, or those it is given."""
        names = [field.name for field in self._schema.tables[kind]]
        slots, body = [0] * len(names), [4]
        for name, value in fields.items():
            slots[names.index(name)] = sum(body)
            body.append(len(value) if isinstance(value, bytes) else 4)
        self._align()
        start = len(self._data)
        self._data += struct.pack(f"<HH{len(slots)}H", 4 + 2 * len(slots), sum(body), *slots)
        self._align()
        self._places[label] = len(self._data)
        self._data += struct.pack("<i", len(self._data) - start)
        for value in fields.values():
            self._put(value)

    def vector(self, label: str, items: Iterable[Value]) -> None:
        """A vector of numbers or of offsets."""
        values = list(items)
        self.mark(label)
        self._data += struct.pack("<I", len(values))
        numbers = [value for value in values if isinstance(value, int)]
        if len(numbers) == len(values):
            self._data += struct.pack(f"<{len(numbers)}I", *numbers)
            return
        for value in values:
            self._put(value)

    def raw(self, label: str, data: bytes) -> None:
        """Bytes as they are, from a four-byte boundary on."""
        self.mark(label)
        self._data += data

    def mark(self, label: str) -> None:
        """Let `label` stand for the place reached."""
        self._align()
        self._places[label] = len(self._data)

    def finish(self) -> bytes:
        """The file, all offsets filled in."""
        for at, label in self._offsets:
            place, _, further = label.partition("+")
            struct.pack_into("<I", self._data, at, self._places[place] + int(further or 0) - at)
        return bytes(self._data)

    def _put(self, value: Value) -> None:
        if isinstance(value, str):
            self._offsets.append((len(self._data), value))
            value = 0
        self._data += struct.pack("<I", value) if isinstance(value, int) else value

    def _align(self) -> None:
        self._data += bytes(-len(self._data) % 4)
