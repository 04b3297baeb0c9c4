"""What each table of the schema holds, in the form the writer walks, and the values that its fields take.

Numbers and arrays come from what a caller gives; refusals name the path.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import calcsize
from typing import Any, Literal

import numpy as np
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
        return _bytes_of(given, path)
    if isinstance(value, (bytes, bytearray, memoryview)) and given.dtype == np.uint8:
        return _reinterpreted(given, wanted, path)
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


def _bytes_of(given: NDArray[Any], path: str) -> NDArray[np.uint8]:
    if given.dtype.hasobject or given.dtype.kind in "US":
        raise wrong_type(path, "an array of numbers", given.flat[0])
    little = given.astype(given.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).reshape(-1).view(np.uint8)


def _reinterpreted(given: NDArray[Any], wanted: np.dtype[Any], path: str) -> NDArray[Any]:
    if given.size % wanted.itemsize:
        raise ValueError(f"{path}: {given.size} bytes are no whole number of {wanted.name}")
    return np.ascontiguousarray(given).reshape(-1).view(wanted)


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
