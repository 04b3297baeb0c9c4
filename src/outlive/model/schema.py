"""The TensorFlow Lite schema as data of our own: importing the runtime's would load its native library.

Fast readers for the fields of sound tables; what is not sound goes back to `FlatBuffer`, the careful way.

Each reader checks as much as the careful way does, in one go, and notes nothing itself.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from struct import Struct, calcsize, unpack_from
from typing import Any, Protocol

from outlive.model.file_bytes import CHUNK, SHIFT, ByteRange, FileBytes

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


Read = Callable[[int, int], Any]  # position of the field, and the offset that stands there

SCALARS = {name: Struct("<" + code) for name, code in FORMATS.items()}
_I32 = Struct("<i").unpack_from
_U32 = Struct("<I").unpack_from
_PEEKED_BYTES = 64
_PAGE_BYTES = 1 << 12
_MOST_CLOSE = 4  # tables in a row that lie less than a page apart
_SHORT = 9  # vectors up to this length are read by formats made beforehand
_SHORT_READS = {
    name: [Struct(f"<{count}{code}").unpack_from for count in range(_SHORT)] for name, code in FORMATS.items()
}


class CarefulReader(Protocol):
    """What the fast readers need of `FlatBuffer`, which knows them."""

    file: FileBytes
    view: memoryview
    size: int
    left: int

    def vector(self, kind: str, at: int, owner: tuple[str, str]) -> Any:
        """A vector, read carefully."""

    def string(self, at: int, owner: tuple[str, str]) -> str | None:
        """A text, read carefully."""


def string_reader(flat: CarefulReader, owner: tuple[str, str]) -> Read:
    """Reads a sound text in one go; anything else goes the careful way."""
    view, size, ready, need = flat.view, flat.size, flat.file.ready, flat.file.need

    def read(at: int, distance: int) -> Any:
        start = at + distance
        if distance and start <= size - 4:
            if not ready[start >> SHIFT]:
                need(start, start + 4)
            end = start + 4 + _U32(view, start)[0]
            if end - start >= CHUNK and end < size:
                need(start, end + 1)
            if end < size and not view[end] and end - start <= flat.left:
                try:
                    text = str(view[start + 4 : end], "utf-8")
                except UnicodeDecodeError:
                    return flat.string(at, owner)
                flat.left -= end - start
                return text
        return flat.string(at, owner)

    return read


def bytes_reader(flat: CarefulReader, owner: tuple[str, str]) -> Read:
    """Finds a sound vector of bytes: weights are pointed at, never copied, so they are never charged."""
    view, size, ready, need = flat.view, flat.size, flat.file.ready, flat.file.need

    def read(at: int, distance: int) -> Any:
        start = at + distance
        if distance and start <= size - 4:
            if not ready[start >> SHIFT]:
                need(start, start + 4)
            end = start + 4 + _U32(view, start)[0]
            if end <= size:
                return ByteRange(start + 4, end)
        return flat.vector("uint8", at, owner)

    return read


def far_buffer_reader(flat: CarefulReader) -> Callable[[int, Callable[[int], Any]], ByteRange | None]:
    """Finds a constant whose table was not read yet by a peek at the file.

    Weights lie between the tables of buffers, so that of most pages nothing but these words is wanted; a page
    of memory for each would cost more than all else. None where tables lie close together, and for whatever
    is not plainly sound.
    """
    size, peek, base, seen, close = flat.size, flat.file.peek, 0, b"", 0

    def read(pos: int, layout_at: Callable[[int], Any]) -> ByteRange | None:
        nonlocal base, seen, close
        close = close + 1 if -_PAGE_BYTES < pos - base < _PAGE_BYTES else 0
        if close > _MOST_CLOSE:
            return None
        if not base <= pos <= base + len(seen) - _PEEKED_BYTES:
            base = max(0, pos - _PEEKED_BYTES)  # the next table is often right before this one
            seen = peek(base, pos + _PEEKED_BYTES)
        here = pos - base
        layout = layout_at(pos - _I32(seen, here)[0]) if len(seen) >= here + _PEEKED_BYTES else None
        if layout is None or layout.only is None or layout.only[2] > _PEEKED_BYTES - 4:
            return None
        at = here + layout.only[2]
        start = at + _U32(seen, at)[0]
        if not at < start <= len(seen) - 4:
            return None
        end: int = base + start + 4 + _U32(seen, start)[0]
        return ByteRange(base + start + 4, end) if end <= size else None

    return read


def number_vector_reader(flat: CarefulReader, kind: str, owner: tuple[str, str]) -> Read:
    """Reads a sound vector of numbers in one go; anything else goes the careful way.

    Shapes, inputs and outputs are most of what a large graph is made of, so this is worth its lines.
    """
    view, size, width, code = flat.view, flat.size, SCALARS[kind].size, FORMATS[kind]
    short, paid = _SHORT_READS[kind], vector_charge(1, width) - 4
    ready, need = flat.file.ready, flat.file.need

    def read(at: int, distance: int) -> Any:
        start = at + distance
        if distance and start <= size - 4:
            if not ready[start >> SHIFT]:
                need(start, start + 4)
            count = _U32(view, start)[0]
            charge = 4 + count * paid
            if start + 4 + count * width <= size and charge <= flat.left:
                flat.left -= charge
                if count < _SHORT:
                    return short[count](view, start + 4)
                need(start, start + 4 + count * width)
                return unpack_from(f"<{count}{code}", view, start + 4)
        return flat.vector(kind, at, owner)

    return read


def vector_charge(count: int, width: int) -> int:
    """What decoding a vector costs: its elements become objects, however narrow they are in the file."""
    return 4 + count * (width if width > 4 else 4)


def unpacker(fields: list[tuple[int, Field]]) -> Callable[[memoryview, int], tuple[Any, ...]]:
    """A function that reads all that a table holds itself at once; fields are in the order of their offsets.

    Fields that overlap, as only a damaged file has them, are read one by one.
    """
    code, end = "<", 0
    for offset, field in fields:
        if offset < end:
            return _one_by_one([(Struct("<" + field.format).unpack_from, at) for at, field in fields])
        code += f"{offset - end}x{field.format}" if offset > end else field.format
        end = offset + field.width
    return Struct(code).unpack_from


def _one_by_one(reads: list[tuple[Callable[..., tuple[Any, ...]], int]]) -> Callable[..., tuple[Any, ...]]:
    return lambda view, pos: tuple(read(view, pos + at)[0] for read, at in reads)
