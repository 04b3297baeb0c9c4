"""The bytes of a constant, from an array that is given for a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Tensor
from outlive.surgery.assembling import Change
from outlive.units import format_shape

_NOT_FROM_ARRAYS = frozenset(
    {"resource", "variant", "bfloat16", "int4", "uint4", "int2", "float8_e4m3fn", "float8_e5m2"}
)


def constant(tensor: Tensor, value: object) -> Change:
    """A tensor that has this value from now on. ValueError for an array of another type or shape."""
    name = f"tensor #{tensor.index} {tensor.name[:80]!r}"
    if tensor.dtype in _NOT_FROM_ARRAYS or tensor.dtype.startswith("unknown"):
        raise ValueError(f"{name} is {tensor.dtype}, which no array can hold: it cannot be made a constant")
    given = np.asarray(value)
    if not isinstance(value, (np.ndarray, np.generic)) and tensor.dtype != "string":
        given = _like(given, tensor.dtype)
    if given.shape != tensor.shape and not tensor.says_open(given.shape):
        wanted = format_shape(tensor.shape_signature or tensor.shape)
        raise ValueError(f"{name} is {wanted}, and the array is {format_shape(given.shape)}")
    if tensor.dtype == "string":
        return Change(shape=given.shape, data=_strings(given, name))
    if given.dtype != tensor.dtype:
        raise ValueError(f"{name} is {tensor.dtype}, and the array is {given.dtype}")
    little = np.ascontiguousarray(given, given.dtype.newbyteorder("<"))
    return Change(shape=given.shape, data=little.tobytes())


def _like(given: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Plain numbers in the tensor's own type, if that changes none of them."""
    if given.dtype.kind not in "biuf":
        return given
    with np.errstate(all="ignore"):
        converted = given.astype(dtype)
    is_float = converted.dtype.kind in "fc"
    return converted if is_float or np.array_equal(converted, given) else given


def _strings(given: NDArray[Any], name: str) -> bytes:
    """Strings as the runtime packs them: count, offsets, bytes (LiteRT, tflite/string_util.h)."""
    words = [_encoded(item, name) for item in given.reshape(-1).tolist()]
    start = 4 * (len(words) + 2)
    ends = np.cumsum([start, *map(len, words)], dtype=np.int64)
    if ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{name}: the strings do not fit a tensor, which ends at 2 GiB")
    return np.array([len(words), *ends], "<i4").tobytes() + b"".join(words)


def _encoded(item: object, name: str) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise ValueError(f"{name} holds strings, and the array holds {type(item).__name__}")
