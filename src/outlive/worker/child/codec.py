"""Arrays and details as JSON and bytes: never pickled, because a worker's word is not to be trusted."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

Header = Dict[str, Any]


def pack_array(value: Any) -> tuple[Header, Any]:
    """An array as a header and its bytes; strings as their lengths and all of them in a row."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return _pack_strings(array)
    # A view, not a copy: a large tensor need not be in memory twice.
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
    return {"dtype": array.dtype.str, "shape": list(array.shape)}, data


def unpack_array(header: Header, payload: Any) -> Any:
    """The array that was packed; ValueError if the header does not fit the bytes."""
    shape = tuple(int(size) for size in header["shape"])
    if header["dtype"] == "strings":
        return _unpack_strings(header, shape, payload)
    dtype = np.dtype(header["dtype"])
    if dtype.kind not in "biufcV":
        raise ValueError("an array of %s" % dtype)
    return np.frombuffer(payload, dtype=dtype).reshape(shape).copy()


def _pack_strings(array: Any) -> tuple[Header, bytes]:
    items = list(array.ravel())
    kinds, lengths, parts = [], [], []
    for item in items:
        data = item.encode("utf-8") if isinstance(item, str) else item
        # LiteRT takes bytes and text, and complains about the rest in its own words.
        known = isinstance(data, (bytes, bytearray, np.bytes_))
        kinds.append("s" if isinstance(item, str) else "b" if known else "n")
        parts.append(bytes(data) if known else b"")
        lengths.append(len(parts[-1]))
    fixed = array.dtype.str if array.dtype.kind in "SU" else ""
    header = {"dtype": "strings", "shape": list(array.shape), "lengths": lengths, "kinds": "".join(kinds)}
    return dict(header, fixed=fixed), b"".join(parts)


def _unpack_strings(header: Header, shape: tuple[int, ...], payload: Any) -> Any:
    items: list[Any] = []
    at = 0
    for kind, length in zip(header["kinds"], header["lengths"]):
        data = bytes(payload[at : at + length])
        at += length
        items.append(data.decode("utf-8") if kind == "s" else data if kind == "b" else None)
    flat: Any = np.empty(len(items), dtype=object)
    flat[:] = items
    array = flat.reshape(shape)
    return array.astype(header["fixed"]) if header.get("fixed") else array


def pack_detail(value: Any) -> Any:
    """A detail (dictionaries, arrays, types, tuples) as plain JSON."""
    if isinstance(value, np.ndarray):
        return {
            "~": "array",
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "values": value.ravel().tolist(),
        }
    if isinstance(value, type) and issubclass(value, np.generic):
        return {
            "~": "type",
            "name": np.dtype(value).name if value not in (np.object_, np.bytes_, np.str_) else value.__name__,
        }
    if isinstance(value, np.generic):
        return {"~": "scalar", "dtype": value.dtype.str, "value": value.item()}
    if isinstance(value, tuple):
        return {"~": "tuple", "items": [pack_detail(item) for item in value]}
    if isinstance(value, list):
        return [pack_detail(item) for item in value]
    if isinstance(value, dict):
        return {"~": "dict", "items": [[pack_detail(key), pack_detail(item)] for key, item in value.items()]}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def unpack_detail(value: Any) -> Any:
    """The detail that was packed."""
    if isinstance(value, list):
        return [unpack_detail(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("~")
    if kind == "array":
        return np.array(value["values"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])
    if kind == "type":
        return getattr(np, value["name"], None) or np.dtype(value["name"]).type
    if kind == "scalar":
        return np.dtype(value["dtype"]).type(value["value"])
    if kind == "tuple":
        return tuple(unpack_detail(item) for item in value["items"])
    return {unpack_detail(key): unpack_detail(item) for key, item in value["items"]}
