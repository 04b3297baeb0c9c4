"""What a worker says about a model: a tree of dictionaries, lists and arrays, and the form it must have.

    payload = length of the tree (4 bytes), the tree (JSON), the bytes of its arrays

JSON has no arrays of numbers here: they are bytes, so that what comes takes no more memory than it did on its
way. `child/codec.py` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder
from numpy.typing import NDArray

from outlive.process.answers import Dtype, MalformedAnswer, Shape, Size

# A model of 20,000 tensors has a tree of 12 MB.
_MOST_TREE_BYTES = 64 << 20
_LENGTH_BYTES = 4
_DEEPEST = 32


class _Packed(Struct, tag_field="~", forbid_unknown_fields=True):
    """One value that JSON has no word for."""


class _Array(_Packed, tag="array"):
    dtype: Dtype
    shape: Shape
    at: Size


class _Type(_Packed, tag="type"):
    name: str


class _Scalar(_Packed, tag="scalar"):
    dtype: Dtype
    value: Any = 0


class _Float(_Packed, tag="float"):
    name: Literal["nan", "inf", "-inf"]


class _Tuple(_Packed, tag="tuple"):
    items: list[_Value]


class _List(_Packed, tag="list"):
    items: list[_Value]


class _Dict(_Packed, tag="dict"):
    items: list[tuple[_Value, _Value]]


_Value = None | bool | int | float | str | _Array | _Type | _Scalar | _Float | _Tuple | _List | _Dict
_decoder: Decoder[Any] = Decoder(_Value)


def unpack(payload: memoryview) -> Any:
    """The value that a worker packed; `MalformedAnswer` if the bytes are none."""
    size = int.from_bytes(payload[:_LENGTH_BYTES], "little")
    start = _LENGTH_BYTES + size
    if len(payload) < _LENGTH_BYTES or size > _MOST_TREE_BYTES or start > len(payload):
        raise MalformedAnswer("a tree that is longer than what came")
    try:
        tree = _decoder.decode(payload[_LENGTH_BYTES:start])
        return _value(tree, payload[start:], 0)
    except (ValidationError, DecodeError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise MalformedAnswer(f"details: {str(error)[:200] or type(error).__name__}") from None


def _value(packed: Any, data: memoryview, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(packed, _Array):
        return _array(packed, data)
    if isinstance(packed, (_Tuple, _List)):
        items = [_value(item, data, depth + 1) for item in packed.items]
        return tuple(items) if isinstance(packed, _Tuple) else items
    if isinstance(packed, _Dict):
        return {_value(key, data, depth + 1): _value(item, data, depth + 1) for key, item in packed.items}
    if isinstance(packed, _Type):
        return _type(packed.name)
    if isinstance(packed, _Scalar):
        return np.dtype(packed.dtype).type(packed.value)
    return float(packed.name) if isinstance(packed, _Float) else packed


def _array(packed: _Array, data: memoryview) -> NDArray[Any]:
    dtype = np.dtype(packed.dtype)
    if min(packed.shape, default=0) < 0 or not dtype.itemsize:
        raise ValueError("an array without a size")
    size = math.prod(packed.shape) * dtype.itemsize
    if packed.at + size > len(data):
        raise ValueError("an array that is longer than what came")
    found: NDArray[Any] = np.frombuffer(data[packed.at : packed.at + size], dtype).reshape(packed.shape)
    copied: NDArray[Any] = found.copy()
    return copied


def _type(name: str) -> Any:
    """A type of numpy's by its name, and nothing else that numpy has under a name."""
    found = getattr(np, name, None) or np.dtype(name).type
    if not (isinstance(found, type) and issubclass(found, np.generic)):
        raise ValueError(f"{name[:40]} is no type")
    return found


# What an answer to each question has to look like. Whoever asks relies on it.


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_index(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and -1 <= int(value) < 1 << 31


def _are(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _is_tensor(row: Any) -> bool:
    if not (isinstance(row, dict) and _is_text(row.get("name")) and _is_index(row.get("index"))):
        return False
    affine, more = row.get("quantization"), row.get("quantization_parameters")
    return (
        _is_numbers(row.get("shape"))
        and isinstance(row.get("dtype"), type)
        and isinstance(affine, tuple)
        and [type(item) for item in affine] == [float, int]
        and (more is None or _is_quantization(more))
    )


def _is_quantization(row: Any) -> bool:
    numbers = [row.get(name) for name in ("scales", "zero_points")] if isinstance(row, dict) else [None]
    return all(map(_is_numbers, numbers)) and _is_index(row.get("quantized_dimension"))


def _is_names(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(key) and _is_index(one) for key, one in value.items())


def _is_signature(value: Any) -> bool:
    return isinstance(value, dict) and _is_names(value.get("inputs")) and _is_names(value.get("outputs"))


def _is_open_signature(value: Any) -> bool:
    return _is_signature(value) and _is_index(value.get("subgraph"))


def _is_signatures(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(k) and _is_signature(one) for k, one in value.items())


def _is_op(row: Any) -> bool:
    return isinstance(row, dict) and _is_index(row.get("index")) and _is_text(row.get("op_name"))


def _is_node(row: Any) -> bool:
    if not (isinstance(row, list) and len(row) == 3):
        return False
    return _is_text(row[0]) and _are(_is_index)(row[1]) and _are(_is_index)(row[2])


def _is_shape(row: Any) -> bool:
    return row is None or _are(lambda size: isinstance(size, int))(row)


def _is_port(row: Any) -> bool:
    """A tensor as a compiled model describes it."""
    if not isinstance(row, dict) or not _is_text(row.get("dtype")):
        return False
    return _is_shape(row.get("shape")) or isinstance(row.get("shape"), tuple)


def _are_ports(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(name) and _is_port(row) for name, row in value.items())


def _is_list_of_names(value: Any) -> bool:
    names = [value.get(side) for side in ("inputs", "outputs")] if isinstance(value, dict) else [None]
    return all(isinstance(side, (list, tuple)) and all(map(_is_text, side)) for side in names)


def _is_signature_list(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_list_of_names, value.values()))


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "inputs": _are(_is_tensor),
    "outputs": _are(_is_tensor),
    "tensors": _are(_is_tensor),
    "tensor": _is_tensor,
    "ops": _are(_is_op),
    "op": _is_op,
    "signatures": _is_signatures,
    "signature": _is_open_signature,
    "subgraphs": _is_index,
    "nodes": _are(_is_node),
    "shapes": _are(_are(_is_shape)),
    "get_signature_list": _is_signature_list,
    "get_signature_index": _is_index,
    "get_num_signatures": _is_index,
    "get_input_tensor_details": _are_ports,
    "get_output_tensor_details": _are_ports,
    "is_fully_accelerated": lambda value: isinstance(value, bool),
}


def read(question: str, payload: memoryview) -> Any:
    """The answer to a question about the model; `MalformedAnswer` if it does not have the form of one."""
    value = unpack(payload)
    if not _FORMS.get(question, lambda _: True)(value):
        raise MalformedAnswer(f"{question}: an answer of another form")
    return value
