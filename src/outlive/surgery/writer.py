"""The bytes of a .tflite file, from a plain tree that uses the schema's field names.

The writer knows the schema and nothing about models: it writes whatever the schema can
express, broken models included, so that faults can be planted and damaged files rewritten.

What each table of the schema holds, in the form the writer walks, and the values that its fields take.

Numbers and arrays come from what a caller gives; refusals name the path.
"""

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import calcsize
from typing import Any, Literal

import numpy as np
from flatbuffers import Builder, number_types  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import NDArray

from outlive.model.schema import FORMATS, load_schema

Kind = Literal["scalar", "string", "table", "union", "scalars", "strings", "tables"]

_SCALARS = {name: calcsize(f"<{code}") for name, code in FORMATS.items()}
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
class WriterField:
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
def fields_of(table: str) -> Mapping[str, WriterField]:
    """The fields of a table by name, in the order of their slots."""
    rows = load_schema().tables[table]
    return {row.name: _field(table, slot, row.name, row.type, row.default) for slot, row in enumerate(rows)}


def members_of(union: str) -> tuple[str, ...]:
    """The tables a union can be, NONE first, so that a tag is an index."""
    return load_schema().unions[union]


def identifier() -> bytes:
    """The four bytes that mark the file."""
    return load_schema().identifier


def _field(table: str, slot: int, name: str, written: str, default: float) -> WriterField:
    element = written.removeprefix("[").removesuffix("]")
    one, of, names = _element(element)
    is_vector = element != written
    return WriterField(
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


def number(field: WriterField, value: object, path: str) -> float:
    """The scalar, enum or union tag that ``value`` stands for."""
    if isinstance(value, str):
        return _named(field, value, path)
    if field.of.startswith("float"):
        return float(array(field, [value], path)[0])
    if isinstance(value, np.bool_):
        value = bool(value)
    try:
        integer = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise wrong_type(path, field.of, value) from None
    low, high = _range(field.of)
    if not low <= integer <= high:
        raise ValueError(f"{path}: {integer} does not fit {field.of}")
    return integer


def array(field: WriterField, value: object, path: str) -> NDArray[Any]:
    """A vector's elements, one-dimensional, contiguous and little-endian; no copy where none is needed."""
    wanted = np.dtype(field.of).newbyteorder("<")
    given = _as_array(field, value, path)
    if given.size == 0:
        return np.empty(0, wanted)
    if field.raw and not isinstance(value, (list, tuple)):
        if given.dtype.hasobject or given.dtype.kind in "US":
            raise wrong_type(path, "an array of numbers", given.flat[0])
        little = given.astype(given.dtype.newbyteorder("<"), copy=False)
        return np.ascontiguousarray(little).reshape(-1).view(np.uint8)
    if isinstance(value, (bytes, bytearray, memoryview)) and given.dtype == np.uint8:
        if given.size % wanted.itemsize:
            raise ValueError(f"{path}: {given.size} bytes are no whole number of {wanted.name}")
        return np.ascontiguousarray(given).reshape(-1).view(wanted)
    if given.ndim != 1:
        raise ValueError(f"{path}: a vector has one dimension, not {given.ndim}")
    _check_elements(field, given, path)
    return np.ascontiguousarray(_converted(given, wanted, path))


def wrong_type(path: str, wanted: str, value: object) -> TypeError:
    """What to raise for a value of a kind the field cannot hold."""
    return TypeError(f"{path}: {wanted} expected, not {type(value).__name__} {_short(value)}")


def near(name: object, known: Iterable[str]) -> str:
    """A guess at what was meant, as the end of a sentence."""
    matches = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def _named(field: WriterField, name: str, path: str) -> int:
    if field.names is None:
        raise wrong_type(path, field.of, name)
    if name not in field.names:
        raise ValueError(f"{path}: {name!r} is not a name it can take{near(name, field.names)}")
    return field.names[name]


def _as_array(field: WriterField, value: object, path: str) -> NDArray[Any]:
    if isinstance(value, (bytes, bytearray)):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, (np.ndarray, memoryview)):
        return np.asarray(value)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong_type(path, f"a vector of {field.of}", value)
    if field.names is not None:
        value = [number(field, item, f"{path}[{index}]") for index, item in enumerate(value)]
    try:
        return np.asarray(value)
    except ValueError:
        raise wrong_type(path, f"a vector of {field.of}", value) from None


def _check_elements(field: WriterField, given: NDArray[Any], path: str) -> None:
    kinds = "biuf" if field.of.startswith("float") else "biu"
    if given.dtype.kind not in kinds:
        raise TypeError(f"{path}: a vector of {field.of} expected, not of {given.dtype}")
    if kinds == "biuf":
        return
    low, high = _range(field.of)
    for extreme in (int(given.min()), int(given.max())):
        if not low <= extreme <= high:
            index = int(np.flatnonzero(given == extreme)[0])
            raise ValueError(f"{path}[{index}]: {extreme} does not fit {field.of}")


def _converted(given: NDArray[Any], wanted: np.dtype[Any], path: str) -> NDArray[Any]:
    try:
        with np.errstate(over="raise"):
            return given.astype(wanted, copy=False)
    except FloatingPointError:
        raise ValueError(f"{path}: a value does not fit {wanted.name}") from None


@cache
def _range(of: str) -> tuple[int, int]:
    if of == "bool":
        return 0, 1
    limits = np.iinfo(of)
    return int(limits.min), int(limits.max)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


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
