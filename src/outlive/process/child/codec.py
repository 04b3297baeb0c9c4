"""Arrays and details as JSON and bytes: never pickled, because a worker's word is not to be trusted.

The parent reads what a worker packs with `process/answers.py` and `interpreter/details.py`, which check it.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List

import numpy as np

from . import wire

Header = Dict[str, Any]


def pack_array(value: Any) -> tuple[Header, Any]:
    """An array as a header and its bytes; strings as their lengths, their kinds and all of them in a row."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return _pack_strings(array)
    # A view, not a copy: a large tensor need not be in memory twice.
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
    return {"dtype": array.dtype.str, "shape": list(array.shape), "size": len(data)}, data


def unpack_array(header: Header, payload: Any) -> Any:
    """The array that a caller packed."""
    shape = tuple(header["shape"])
    if header["dtype"] != "strings":
        return np.frombuffer(payload, dtype=header["dtype"]).reshape(shape).copy()
    count = math.prod(shape)
    lengths = np.frombuffer(payload[: 8 * count], "<u8").tolist()
    flat: Any = np.empty(count, dtype=object)
    at = 9 * count
    for place, (kind, length) in enumerate(zip(payload[8 * count : at], lengths)):
        data = bytes(payload[at : at + length])
        flat[place] = data.decode("utf-8") if kind == ord("s") else data if kind == ord("b") else None
        at += length
    if not shape and flat[0] is not None and not header.get("fixed"):
        # LiteRT takes the pointer in an array of one object for its text (FillStringBufferWithPyArray in
        # tflite/python/interpreter_wrapper/numpy.cc), and the bytes of any other as they are.
        return np.array(flat[0].encode("utf-8") if isinstance(flat[0], str) else flat[0])
    array = flat.reshape(shape)
    return array.astype(header["fixed"]) if header.get("fixed") else array


def unpack_arrays(headers: List[Header], payload: Any) -> List[Any]:
    """The arrays that lie in a payload one behind the other."""
    arrays, at = [], 0
    for header in headers:
        arrays.append(unpack_array(header, payload[at : at + header["size"]]))
        at += header["size"]
    return arrays


def _pack_strings(array: Any) -> tuple[Header, bytes]:
    kinds, parts = bytearray(), []
    for item in array.ravel():
        data = item.encode("utf-8") if isinstance(item, str) else item
        # LiteRT takes bytes and text, and complains about the rest in its own words.
        known = isinstance(data, (bytes, bytearray, np.bytes_))
        kinds += b"s" if isinstance(item, str) else b"b" if known else b"n"
        parts.append(bytes(data) if known else b"")
    lengths = np.array([len(part) for part in parts], "<u8").tobytes()
    data = b"".join([lengths, bytes(kinds), *parts])
    header = {"dtype": "strings", "shape": list(array.shape), "size": len(data)}
    return dict(header, fixed=array.dtype.str) if array.dtype.kind in "SU" else header, data


def count_numbers(value: Any) -> int:
    """The elements of all arrays in a detail."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return 0
    return sum(map(count_numbers, value))


def pack_tree(value: Any) -> bytes:
    """A detail (dictionaries, lists, arrays, types): its tree as JSON, and the bytes of its arrays."""
    arrays: List[bytes] = []
    text = wire.plain_text(_packed(value, arrays, [0]))
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays])


def _packed(value: Any, arrays: List[bytes], end: List[int]) -> Any:
    if isinstance(value, np.ndarray):
        data = value.tobytes()
        row = {"~": "array", "dtype": value.dtype.str, "shape": list(value.shape), "at": end[0]}
        arrays.append(data)
        end[0] += len(data)
        return row
    if isinstance(value, type) and issubclass(value, np.generic):
        plain = value in (np.object_, np.bytes_, np.str_)
        return {"~": "type", "name": value.__name__ if plain else np.dtype(value).name}
    if isinstance(value, np.generic):
        return {"~": "scalar", "dtype": value.dtype.str, "value": _finite(value.item())}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"~": kind, "items": [_packed(item, arrays, end) for item in value]}
    if isinstance(value, dict):
        pairs = [[_packed(item, arrays, end) for item in pair] for pair in value.items()]
        return {"~": "dict", "items": pairs}
    return _finite(value) if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _finite(value: Any) -> Any:
    """The value; a number that JSON has no word for by its name."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"~": "float", "name": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value
