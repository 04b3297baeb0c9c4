"""Does a value fit an input? Checked before any memory is touched, refused in LiteRT's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError
from outlive.interpreter.judge import Call, Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class IoTensor:
    """An input or output; `offset` is its place in the shared block, None if it has none."""

    index: int
    dtype: str
    shape: tuple[int, ...]
    size: int = 0
    offset: int | None = None
    constant: bool = False


def problem_with(array: NDArray[Any], tensor: IoTensor) -> str:
    """What is wrong with a value for this tensor; empty if it fits."""
    wanted = np.dtype(tensor.dtype) if tensor.dtype else None
    if wanted is None:
        return ""
    if array.dtype != wanted:
        if array.dtype.newbyteorder("=") == wanted:
            return "byte-order"
        return "wrong-dtype"
    if array.shape != tensor.shape:
        return _shape_problem(array.shape, tensor.shape)
    return ""


def _shape_problem(given: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    if (1, *given) == wanted:
        return "missing-batch"
    moved = ((given[0], *given[2:], given[1]), (given[0], given[-1], *given[1:-1])) if len(given) >= 3 else ()
    if wanted in moved:
        return "wrong-layout"
    return "wrong-shape"


def wrong_shape(judge: Judge, row: dict[str, Any], given: tuple[int, ...]) -> InputError:
    """The error for a shape that the model was resized to, and that the runtime then refused."""
    shape = tuple(map(int, row["shape"]))
    tensor = IoTensor(index=row["index"], dtype=np.dtype(row["dtype"]).name, shape=shape)
    array = np.broadcast_to(np.zeros((), row["dtype"]), given)
    text = mismatch_text("wrong-shape", array, tensor, row["name"])
    return judge.refused(describe_call("wrong-shape", array, tensor, row["name"], text, resizable=False))


def describe_call(
    problem: str, array: NDArray[Any], tensor: IoTensor, name: str, text: str, resizable: bool | None = None
) -> Call:
    """The refused call as a fact; `resizable` if the model can be resized to the shape, None if unknown."""
    return Call(
        problem=problem,
        index=tensor.index,
        name=name,
        wanted_shape=tensor.shape,
        wanted_dtype=np.dtype(tensor.dtype).name if tensor.dtype else "string",
        given_shape=array.shape,
        given_dtype=array.dtype.name if array.dtype.isnative else f"{array.dtype.name}, bytes swapped",
        text=text,
        resizable=resizable,
    )


def mismatch_text(problem: str, array: NDArray[Any], tensor: IoTensor, name: str) -> str:
    """What LiteRT would have said: tflite/python/interpreter_wrapper/interpreter_wrapper.cc."""
    if problem == "wrong-dtype":
        given = "STRING" if array.dtype.kind in "OSU" else array.dtype.name.upper()
        wanted = np.dtype(tensor.dtype).name.upper()
        return (
            f"Cannot set tensor: Got value of type {given} but expected type {wanted} "
            f"for input {tensor.index}, name: {name} "
        )
    if problem == "byte-order":
        return ""
    start = "Cannot set tensor: Dimension mismatch. Got"
    if len(array.shape) != len(tensor.shape):
        return f"{start} {array.ndim} but expected {len(tensor.shape)} for input {tensor.index}."
    for place, (got, size) in enumerate(zip(array.shape, tensor.shape, strict=True)):
        if got != size:
            return f"{start} {got} but expected {size} for dimension {place} of input {tensor.index}."
    return ""
