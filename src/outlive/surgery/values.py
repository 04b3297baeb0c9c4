"""Numbers and arrays as their fields hold them, from what a caller gives; refusals name the path."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.surgery.fields import Field


def number(field: Field, value: object, path: str) -> float:
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


def array(field: Field, value: object, path: str) -> NDArray[Any]:
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


def _named(field: Field, name: str, path: str) -> int:
    if field.names is None:
        raise wrong_type(path, field.of, name)
    if name not in field.names:
        raise ValueError(f"{path}: {name!r} is not a name it can take{near(name, field.names)}")
    return field.names[name]


def _as_array(field: Field, value: object, path: str) -> NDArray[Any]:
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


def _check_elements(field: Field, given: NDArray[Any], path: str) -> None:
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
