"""Plain values as bytes and back: JSON, with bytes and arrays of numbers beside it. Nothing here runs code.

    None, bool, int, float, str, list     as JSON has them
    tuple, dict (keys are str)            {"t": [...]}, {"d": {...}}
    bytes, array                          {"b": where}, {"a": [where, dtype, shape]}
    where                                 base64 if it is small, else the number of a buffer

A worker that has run a model answers so, because the model may have taken it over: what it says is
read with bounds, and whatever is not of this form is `Malformed`.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from typing import Any

from .message_frames import Malformed

MOST_TEXT_BYTES = 1 << 20
# An array has a type of this list: what others are called can name a type of any size.
_DTYPES = frozenset(
    "|b1 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 <c8 <c16".split()  # noqa: SIM905
)
_LEAST_APART_BYTES = 1 << 12
_DEEPEST, _MOST_DIGITS, _MOST_DIMENSIONS, _MOST_SIZE = 32, 40, 16, 1 << 40


class NotPlain(TypeError):
    """A value that has no plain form; the text says which part."""


def dumps(value: Any) -> tuple[bytes, list[memoryview]]:
    """The value as JSON, and its large buffers; `NotPlain` if it has another form."""
    apart: list[memoryview] = []
    text = json.dumps(_plain(value, apart, "", _DEEPEST)).encode("ascii")
    if len(text) > MOST_TEXT_BYTES:
        raise NotPlain("it is too long: %d bytes as text" % len(text))
    return text, apart


def _plain(value: Any, apart: list[memoryview], path: str, depth: int) -> Any:
    if depth < 0:
        raise NotPlain("its part %s is nested too deep" % path)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"b": _put(memoryview(value).cast("B"), apart)}
    if isinstance(value, (list, tuple)):
        parts = [_plain(one, apart, "%s[%d]" % (path, at), depth - 1) for at, one in enumerate(value)]
        return {"t": parts} if isinstance(value, tuple) else parts
    if isinstance(value, dict) and all(type(key) is str for key in value):
        rows = value.items()
        return {"d": {key: _plain(one, apart, "%s[%.60r]" % (path, key), depth - 1) for key, one in rows}}
    return _plain_array(value, apart, path)


def _plain_array(value: Any, apart: list[memoryview], path: str) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic) and isinstance(value.item(), (int, float)):
        return value.item()
    if numpy is not None and isinstance(value, numpy.ndarray):
        array = numpy.ascontiguousarray(value).reshape(value.shape)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype.str in _DTYPES:
            held = memoryview(array.reshape(-1).view("u1"))
            return {"a": [_put(held, apart), array.dtype.str, list(array.shape)]}
    kind = "%s.%s" % (type(value).__module__, type(value).__qualname__)
    raise NotPlain("%s a %s" % ("its part %s is" % path if path else "it is", kind))


def _put(held: memoryview, apart: list[memoryview]) -> Any:
    if held.nbytes < _LEAST_APART_BYTES:
        return base64.b64encode(held).decode("ascii")
    apart.append(held)
    return len(apart) - 1


def loads(body: Any, buffers: Any = ()) -> Any:
    """The value; `buffers` are its own, and become its arrays. `Malformed` if it is none."""
    if len(body) > MOST_TEXT_BYTES:
        raise Malformed("an answer of %d bytes of text" % len(body))
    try:
        found = json.loads(bytes(body).decode("ascii"), parse_int=_whole)
        reader = _ValueBuilder(list(buffers))
        value = reader.read(found, _DEEPEST)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise Malformed("an answer that cannot be read: %.200s" % error) from None
    if reader.left:
        raise Malformed("an answer with unused buffers")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number of %d digits" % len(digits))
    return int(digits)


class _ValueBuilder:
    """Builds a value; each buffer is used once, so that an answer takes no more memory than was sent."""

    def __init__(self, buffers: list[Any]) -> None:
        self._buffers = buffers
        self.left = len(buffers)

    def read(self, found: Any, depth: int) -> Any:
        if depth < 0:
            raise ValueError("it is nested too deep")
        if isinstance(found, list):
            return [self.read(one, depth - 1) for one in found]
        if not isinstance(found, dict):
            return found
        ((form, held),) = found.items()
        if form == "b":
            return bytes(self._take(held))
        if form == "a":
            return self._array(*held)
        if form == "t" and isinstance(held, list):
            return tuple(self.read(one, depth - 1) for one in held)
        if form == "d" and isinstance(held, dict):
            return {key: self.read(one, depth - 1) for key, one in held.items()}
        raise ValueError("a part of no known form")

    def _take(self, where: Any) -> Any:
        if isinstance(where, str):
            return bytearray(base64.b64decode(where, validate=True))
        if type(where) is not int or where < 0 or self._buffers[where] is None:
            raise ValueError("a buffer that is not there, or was used already")
        held, self._buffers[where] = self._buffers[where], None
        self.left -= 1
        return held

    def _array(self, where: Any, dtype: Any, shape: Any) -> Any:
        if not isinstance(dtype, str) or dtype not in _DTYPES or not _is_shape(shape):
            raise ValueError("an array of a type or shape that cannot be")
        import numpy as np

        held = self._take(where)
        if math.prod(shape) * np.dtype(dtype).itemsize != len(held):
            raise ValueError("an array of another size than its bytes")
        if not len(held):
            return np.zeros(shape, dtype)
        if dtype == "|b1":  # a truth is 0 or 1 in computations
            return np.frombuffer(held, "u1").reshape(shape) != 0
        return np.frombuffer(held, dtype).reshape(shape)


def _is_shape(shape: Any) -> bool:
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        return False
    return all(type(size) is int and 0 <= size <= _MOST_SIZE for size in shape)
