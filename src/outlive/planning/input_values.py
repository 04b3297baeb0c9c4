"""Values a user gives, put to the inputs they are for: facts for the rules on inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.arena.questions import find_input
from outlive.interpreter.affine import Affine, affine_of
from outlive.interpreter.array_facts import look_at
from outlive.interpreter.input_check import IoTensor, describe_call, problem_with
from outlive.interpreter.judge import Call
from outlive.model import Model, Tensor
from outlive.rules.feed import Feed, GivenInput, quantized

# Types that numpy has no name for, or that are set in another way: nothing is said about those.
_PLAIN = "biufc"


def make_feed(model: Model, values: Any) -> Feed:
    """The values by input: a mapping of names, a list in the model's order, or the only one."""
    if isinstance(values, Mapping):
        pairs = [(find_input(model, str(name)), value) for name, value in values.items()]
    else:
        listed = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(listed) != len(model.inputs):
            raise ValueError(f"the model has {len(model.inputs)} inputs, and {len(listed)} were given")
        pairs = list(zip(model.inputs, listed, strict=True))
    if len({tensor.index for tensor, _ in pairs}) != len(pairs):
        raise ValueError("an input is given twice, under two of its names")
    return Feed(model=model, given=tuple(_given(model, tensor, np.asarray(value)) for tensor, value in pairs))


def affine_parameters(details: Mapping[str, Any] | Tensor) -> Affine:
    """How integers stand for real numbers: by a row of details, or a tensor that was read."""
    if not isinstance(details, Tensor):
        return affine_of(details)
    found = details.quantization
    try:
        dtype = np.dtype(details.dtype)
    except TypeError:
        raise ValueError(f"tensor {details.name[:80]!r}: numpy has no {details.dtype}") from None
    return Affine(
        name=details.name,
        dtype=dtype,
        scales=found.scales if found is not None else (),
        zero_points=found.zero_points if found is not None else (),
        axis=found.axis if found is not None else 0,
    )


def calls_of(feed: Feed) -> list[Call]:
    """The calls to set the values that the interpreter would refuse."""
    return [call for given in feed.given if (call := _refused(given)) is not None]


def _given(model: Model, tensor: Tensor, array: NDArray[Any]) -> GivenInput:
    place = next(place for place, item in enumerate(model.inputs) if item.index == tensor.index)
    cards = model.card.inputs if model.card is not None else ()
    card = cards[place] if place < len(cards) and len(cards) == len(model.inputs) else None
    return GivenInput(tensor=tensor, seen=look_at(array), array=array, card=card)


def _refused(given: GivenInput) -> Call | None:
    """The refused call for a value of another shape or type; None where another rule says more."""
    tensor, array = given.tensor, given.array
    try:
        wanted = np.dtype(tensor.dtype)
    except TypeError:
        return None
    if wanted.kind not in _PLAIN or (not tensor.has_rank and not tensor.shape):
        return None
    end = IoTensor(index=tensor.index, dtype=tensor.dtype, shape=tensor.shape)
    problem = problem_with(array, end)
    if problem == "wrong-dtype" and given.seen.is_float and quantized(tensor):
        # I301 says it better; the shape still has to be right.
        problem = _shape_only(array, end)
    if not problem or (problem not in ("wrong-dtype", "byte-order") and tensor.may_become(array.shape)):
        return None
    return describe_call(problem, array, end, tensor.name, "")


def _shape_only(array: NDArray[Any], end: IoTensor) -> str:
    """What is wrong with the shape, whatever the type."""
    return problem_with(np.broadcast_to(np.zeros((), end.dtype), array.shape), end)
