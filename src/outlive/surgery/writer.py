"""The bytes of a .tflite file, from a plain tree that uses the schema's field names.

The writer knows the schema and nothing about models: it writes whatever the schema can
express, broken models included, so that faults can be planted and damaged files rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from flatbuffers import Builder, number_types  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import NDArray

from outlive.model.schema import FORMATS
from outlive.surgery.field_values import (
    WriterField,
    array,
    fields_of,
    identifier,
    members_of,
    near,
    number,
    wrong_type,
)

Tree = Mapping[str, object]
Place = tuple[int, int]  # offset and size of a constant outside

_CONSTANT_ALIGNMENT = 16
# LiteRT takes an offset of 0 or 1 as "not outside" (tflite/core/interpreter_builder.cc).
_PLACEHOLDER = 2
_FLATBUFFER_LIMIT_BYTES = 2**31 - 1

# Constants of more than this go behind the FlatBuffer, whose tables need room as well.
_MOST_INSIDE_BYTES = 2**31 - 2**26

_FLAGS = {name: getattr(number_types, f"{name.capitalize()}Flags") for name in FORMATS}


def write(tree: Tree, *, outside: bool = False) -> bytes:
    """The bytes of a .tflite file that holds ``tree``.

    Keys are the schema's field names; a missing key or ``None`` is an absent field. Enums and
    union tags are names or numbers. Numeric vectors are lists, arrays, or little-endian bytes;
    a byte vector such as ``Buffer.data`` takes the bytes of any array.

    With ``outside``, constants lie behind the FlatBuffer (``Buffer.offset`` and ``size``), as
    files above 2 GB need; what ``Model.metadata`` refers to stays inside.

    Raises ``ValueError`` or ``TypeError`` that names the path of what cannot be written.
    """
    if not isinstance(tree, Mapping):
        raise wrong_type("Model", "a mapping of its fields", tree)
    return _constants_behind(tree) if outside else _flatbuffer(tree)


def is_large(tree: Tree) -> bool:
    """True if its constants are too large to lie inside the FlatBuffer, whose offsets end at 2 GiB."""
    return _payload_bytes(tree) > _MOST_INSIDE_BYTES


def _constants_behind(tree: Tree) -> bytes:
    constants = _movable_constants(tree)
    # Offsets have a fixed width, so a first pass with placeholders gives the final length.
    draft = {index: (_PLACEHOLDER, data.nbytes) for index, data in constants.items()}
    length = len(_flatbuffer(_pointing_to(tree, draft)))
    places: dict[int, Place] = {}
    end = length
    for index, data in constants.items():
        start = end + -end % _CONSTANT_ALIGNMENT
        places[index] = (start, data.nbytes)
        end = start + data.nbytes
    parts: list[bytes | memoryview] = [_flatbuffer(_pointing_to(tree, places))]
    for index, data in constants.items():
        start, _ = places[index]
        parts += [bytes(start - length), data.data]
        length = start + data.nbytes
    return b"".join(parts)


def _movable_constants(tree: Tree) -> dict[int, NDArray[Any]]:
    inside = [entry.get("buffer", 0) for entry in _tables(tree, "metadata")]
    field = fields_of("Buffer")["data"]
    given = {
        index: array(field, buffer["data"], f"buffers[{index}].data")
        for index, buffer in enumerate(_tables(tree, "buffers"))
        if index not in inside and buffer.get("data") is not None
    }
    # An empty vector that is present makes a constant of no bytes, which no offset can say.
    return {index: data for index, data in given.items() if data.nbytes}


def _pointing_to(tree: Tree, places: Mapping[int, Place]) -> Tree:
    buffers = [dict(buffer) for buffer in _tables(tree, "buffers")]
    for index, (offset, size) in places.items():
        buffers[index] |= {"data": None, "offset": offset, "size": size}
    return {**tree, "buffers": buffers or None}


def _tables(tree: Tree, name: str) -> list[Tree]:
    entries = [] if tree.get(name) is None else _items(tree[name], name)
    for entry, path in entries:
        if not isinstance(entry, Mapping):
            raise wrong_type(path, "a mapping of fields", entry)
    return [entry for entry, _ in entries if isinstance(entry, Mapping)]


def _flatbuffer(tree: Tree) -> bytes:
    payload_bytes = _payload_bytes(tree)
    if payload_bytes > _FLATBUFFER_LIMIT_BYTES:
        raise ValueError(
            f"buffers: {payload_bytes} bytes of constants do not fit into a FlatBuffer, "
            f"which ends at {_FLATBUFFER_LIMIT_BYTES}; write them behind it with outside=True"
        )
    # Room for all constants at once: a builder that grows doubles and copies.
    room_bytes = min(payload_bytes + payload_bytes // 16 + 65536, _FLATBUFFER_LIMIT_BYTES)
    writer = _Writer(room_bytes)
    return writer.finish(writer.table("Model", tree, ""))


def _payload_bytes(tree: Tree) -> int:
    """About how much room the constants take; what is wrong with them is said when they are written."""
    buffers = tree.get("buffers")
    if not isinstance(buffers, Sequence):
        return 0
    data = [buffer.get("data") for buffer in buffers if isinstance(buffer, Mapping)]
    return sum(getattr(d, "nbytes", None) or (len(d) if isinstance(d, Sequence) else 0) for d in data)


class _Writer:
    """Writes tables children first, as FlatBuffers asks."""

    def __init__(self, room_bytes: int) -> None:
        self._builder = Builder(room_bytes)
        self._vtables: dict[int, dict[tuple[int, ...], int]] = {}

    def finish(self, root: int) -> bytes:
        self._builder.Finish(root, file_identifier=identifier())
        return bytes(memoryview(self._builder.Bytes)[self._builder.Head() :])

    def table(self, name: str, tree: object, path: str) -> int:
        ready: list[tuple[WriterField, float]] = []
        # What is written first lies at the end of the file. Constants belong there, as converters have them:
        # a file that is cut short then still has its graph.
        present = sorted(_present(name, tree, path), key=lambda pair: pair[0].name != "buffers")
        for field, value in present:
            ready.append((field, self._value(field, value, tree, _join(path, field.name))))
        self._builder.StartObject(len(fields_of(name)))
        for field, number_or_offset in ready:
            self._slot(field, number_or_offset)
        return self._end_table()

    def _end_table(self) -> int:
        # A vtable holds the size of its table, but builders before 25.12 share it between tables of different
        # size; so each size gets vtables of its own, and all versions give the same bytes.
        self._builder.Prep(4, 0)
        size = self._builder.Offset() - self._builder.objectEnd
        self._builder.vtables = self._vtables.setdefault(size, {})
        return int(self._builder.EndObject())

    def _slot(self, field: WriterField, number_or_offset: float) -> None:
        if field.kind == "scalar":
            self._builder.PrependSlot(_FLAGS[field.of], field.slot, number_or_offset, field.default)
        else:
            self._builder.PrependUOffsetTRelativeSlot(field.slot, number_or_offset, 0)

    def _value(self, field: WriterField, value: object, parent: object, path: str) -> float:
        """A scalar itself, or where what the field refers to was written."""
        match field.kind:
            case "scalar":
                return number(field, value, path)
            case "scalars":
                return self._vector(array(field, value, path), field.alignment)
            case "string" | "table" | "union":
                return self._child(field, value, parent, path)
            case _:
                items = _items(value, path)
                return self._offsets([self._child(field, item, parent, where) for item, where in items])

    def _child(self, field: WriterField, value: object, parent: object, path: str) -> int:
        if field.of == "string":
            return self._string(value, path)
        table = _member(field, parent, path) if field.kind == "union" else field.of
        return self.table(table, value, path)

    def _string(self, value: object, path: str) -> int:
        if isinstance(value, str):
            # A name that is not UTF-8 survives reading and writing.
            value = value.encode("utf-8", "surrogateescape")
        if not isinstance(value, bytes):
            raise wrong_type(path, "a string", value)
        return int(self._builder.CreateString(value))

    def _offsets(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _vector(self, elements: NDArray[Any], alignment: int) -> int:
        builder = self._builder
        builder.StartVector(elements.itemsize, elements.size, alignment)
        end = builder.head
        builder.head = end - elements.nbytes
        # Builder.CreateNumpyVector takes no alignment and copies twice on the way.
        np.frombuffer(builder.Bytes, np.uint8)[builder.head : end] = elements.view(np.uint8)
        return int(builder.EndVector())


def _present(table: str, tree: object, path: str) -> list[tuple[WriterField, object]]:
    """The fields that have a value, in the schema's order whatever the tree's."""
    if not isinstance(tree, Mapping):
        raise wrong_type(path, f"a mapping of the fields of {table}", tree)
    fields = fields_of(table)
    for key in tree:
        if key not in fields:
            raise ValueError(f"{_join(path, str(key))}: {table} has no such field{near(key, fields)}")
    return [(f, tree[f.name]) for f in fields.values() if tree.get(f.name) is not None]


def _member(field: WriterField, parent: object, path: str) -> str:
    """The table that a union is, by the tag beside it, whose slot comes first and is checked by now."""
    tag = parent.get(f"{field.name}_type") if isinstance(parent, Mapping) else None
    members = members_of(field.of)
    index = members.index(tag) if isinstance(tag, str) else int(tag or 0)
    if not 0 < index < len(members):
        raise ValueError(f"{path}_type: {tag!r} names no table of {field.of}")
    return members[index]


def _items(value: object, path: str) -> list[tuple[object, str]]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise wrong_type(path, "a list", value)
    return [(item, f"{path}[{index}]") for index, item in enumerate(value)]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
