"""What a worker says about a model: a tree of dictionaries, lists and arrays, and the form it must have.

    payload = length of the tree (4 bytes), the tree (JSON), the bytes of its arrays

JSON has no arrays of numbers here: they are bytes, so that what comes takes no more memory than it did on its
way. `child/codec.py` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder
from numpy.typing import NDArray

from outlive.interpreter.answer_forms import Either, has_form
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


def _is_index(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and -1 <= int(value) < 1 << 31


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _is_affine(value: Any) -> bool:
    return isinstance(value, tuple) and [type(item) for item in value] == [float, int]


def _is_node(value: Any) -> bool:
    return isinstance(value, list) and has_form(tuple(value), (str, [_is_index], [_is_index]))


def _is_size(value: Any) -> bool:
    return isinstance(value, int)


# What an answer to each question has to look like: the callers rely on it.
_QUANTIZATION = {
    "scales": _is_vector,
    "zero_points": _is_vector,
    "quantized_dimension": _is_index,
    ...: object,
}
_TENSOR = {
    "name": str,
    "index": _is_index,
    "shape": _is_vector,
    "dtype": type,
    "quantization": _is_affine,
    "quantization_parameters": Either(_QUANTIZATION, None),
    ...: object,
}
_SIGNATURE = {"inputs": {str: _is_index}, "outputs": {str: _is_index}, ...: object}
_OP = {"index": _is_index, "op_name": str, ...: object}
_SHAPE = Either([_is_size], None)
# A tensor as a compiled model describes it, and the names of its signatures.
_PORT = {"dtype": str, "shape": Either(_SHAPE, tuple), ...: object}
_NAMES = Either([str], lambda value: isinstance(value, tuple) and has_form(list(value), [str]))
_FORMS: Mapping[str, Any] = {
    "inputs": [_TENSOR],
    "outputs": [_TENSOR],
    "tensors": [_TENSOR],
    "tensor": _TENSOR,
    "ops": [_OP],
    "op": _OP,
    "signatures": {str: _SIGNATURE},
    "signature": {**_SIGNATURE, "subgraph": _is_index},
    "subgraphs": _is_index,
    "nodes": [_is_node],
    "shapes": [[_SHAPE]],
    "get_signature_list": {object: {"inputs": _NAMES, "outputs": _NAMES, ...: object}},
    "get_signature_index": _is_index,
    "get_num_signatures": _is_index,
    "get_input_tensor_details": {str: _PORT},
    "get_output_tensor_details": {str: _PORT},
    "is_fully_accelerated": bool,
}


def read(question: str, payload: memoryview) -> Any:
    """The answer to a question about the model; `MalformedAnswer` if it does not have the form of one."""
    value = unpack(payload)
    if not has_form(value, _FORMS.get(question, object)):
        raise MalformedAnswer(f"{question}: an answer of another form")
    return value
