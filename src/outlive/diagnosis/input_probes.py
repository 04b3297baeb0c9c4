"""Inputs a model may be given beside the usual ones: zeros, ones, negative and very large numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.arena.questions import input_rows
from outlive.diagnosis.sized_operators import fitting_sizes
from outlive.interpreter.feeds import make_feeds
from outlive.model import Model, Tensor
from outlive.units import count_elements

# What each probe puts into integers; floats get numbers of that sign and size.
PROBES = ("zeros", "ones", "negative", "large", "largest", "smallest")
_LARGE = 100_000_000
_BIG_FLOAT = 1e6
# Inputs beyond this are not made a second time only to see what they do.
_MOST_BYTES = 64 << 20
_SEED = 1


def feedable(model: Model) -> bool:
    """True if the model has inputs whose shapes and types are known and which are not too large to make."""
    try:
        sizes = [count_elements(tensor.shape) for tensor in model.inputs]
        widths = [np.dtype(_numpy_type(tensor)).itemsize for tensor in model.inputs]
    except TypeError:
        return False  # a type that numpy does not have
    if not sizes or any(size is None for size in sizes):
        return False
    total: int = sum((size or 0) * width for size, width in zip(sizes, widths, strict=True))
    return total <= _MOST_BYTES


def has_numbers_to_choose(model: Model) -> bool:
    """True if an input holds plain integers, such as indices, sizes or divisors, that any value may be."""
    return any(tensor.dtype in ("int32", "int64", "uint32", "uint64") for tensor in model.inputs)


def probe(model: Model, kind: str) -> list[Any]:
    """Inputs of one kind, in the model's order."""
    if kind in ("zeros", "ones"):
        return list(usual(model, kind).values())
    rng = np.random.default_rng(_SEED)
    return [_extreme(tensor, kind, rng) for tensor in model.inputs]


def with_fitting_sizes(model: Model) -> list[Any] | None:
    """The usual inputs, but sizes as the file itself has them; None if no input is a size."""
    sizes = fitting_sizes(model)
    return list((usual(model) | sizes).values()) if sizes else None


def by_tensor(model: Model, given: Any) -> dict[int, Any]:
    """Inputs as the user gave them, by tensor index."""
    if isinstance(given, dict):
        return {tensor.index: given[tensor.name] for tensor in model.inputs if tensor.name in given}
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    return {tensor.index: value for tensor, value in zip(model.inputs, values, strict=False)}


def usual(model: Model, given: Any = None) -> dict[int, NDArray[Any]]:
    """What a run feeds when it is asked for these inputs, by tensor index."""
    return make_feeds(input_rows(model), given)


def _extreme(tensor: Tensor, kind: str, rng: np.random.Generator) -> NDArray[Any]:
    dtype, shape = np.dtype(_numpy_type(tensor)), tensor.shape
    if dtype.kind == "O":
        return np.full(shape, b"outlive", dtype=object)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind not in "iu":
        sign = -1 if kind in ("negative", "smallest") else 1
        return (sign * _BIG_FLOAT * np.abs(rng.standard_normal(shape))).astype(dtype)
    limits = np.iinfo(dtype)
    if kind == "negative" and limits.min < 0:
        return (-rng.integers(1, 5, shape)).astype(dtype)
    number = {
        "large": min(limits.max, _LARGE),
        "largest": limits.max,
        "smallest": max(limits.min, -_LARGE),
    }.get(kind, 0)
    return np.full(shape, number, dtype=dtype)


def _numpy_type(tensor: Tensor) -> Any:
    return object if tensor.dtype == "string" else tensor.dtype
