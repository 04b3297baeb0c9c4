"""Inputs and outputs as arrays in the shared block, and the checks before anything is written to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError
from outlive.interpreter.session import End
from outlive.interpreter.verdicts import Call, Judge


class Slot:
    """One input or output that lives in the shared block."""

    __slots__ = ("array", "dtype", "end", "is_input", "is_set", "shape")

    def __init__(self, end: End, memory: NDArray[np.uint8], is_input: bool) -> None:
        """Lay the tensor over its place in the block; an input is not set before somebody sets it."""
        assert end.offset is not None
        self.is_input, self.is_set = is_input, False
        self.end, self.shape, self.dtype = end, end.shape, np.dtype(end.dtype)
        self.array: NDArray[Any] = (
            memory[end.offset : end.offset + end.size].view(self.dtype).reshape(end.shape)
        )

    def takes(self, value: NDArray[Any]) -> bool:
        """True if the value has the tensor's own type and shape."""
        return value.dtype == self.dtype and value.shape == self.shape


def hand_out(value: NDArray[Any]) -> Any:
    """A value as LiteRT gives it: a scalar is no array, unless it is a string."""
    return value[()] if value.ndim == 0 and value.dtype.kind != "O" else value


def problem_with(array: NDArray[Any], end: End) -> str:
    """What is wrong with a value for this tensor; empty if it fits."""
    wanted = np.dtype(end.dtype) if end.dtype else None
    if wanted is None:
        return ""
    if array.dtype != wanted:
        if array.dtype.newbyteorder("=") == wanted:
            return "byte-order"
        return "wrong-dtype"
    if array.shape != end.shape:
        return _shape_problem(array.shape, end.shape)
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
    end = End(index=row["index"], dtype=np.dtype(row["dtype"]).name, shape=shape, size=0, offset=None)
    array = np.broadcast_to(np.zeros((), row["dtype"]), given)
    text = mismatch_text("wrong-shape", array, end, row["name"])
    return judge.refused(describe_call("wrong-shape", array, end, row["name"], text, resizable=False))


def describe_call(
    problem: str, array: NDArray[Any], end: End, name: str, text: str, resizable: bool | None = None
) -> Call:
    """The refused call as a fact; `resizable` if the model can be resized to the shape, None if unknown."""
    return Call(
        problem=problem,
        index=end.index,
        name=name,
        wanted_shape=end.shape,
        wanted_dtype=np.dtype(end.dtype).name if end.dtype else "string",
        given_shape=array.shape,
        given_dtype=array.dtype.name if array.dtype.isnative else f"{array.dtype.name}, bytes swapped",
        text=text,
        resizable=resizable,
    )


def mismatch_text(problem: str, array: NDArray[Any], end: End, name: str) -> str:
    """What LiteRT would have said: tflite/python/interpreter_wrapper/interpreter_wrapper.cc."""
    if problem == "wrong-dtype":
        given = "STRING" if array.dtype.kind in "OSU" else array.dtype.name.upper()
        wanted = np.dtype(end.dtype).name.upper()
        return (
            f"Cannot set tensor: Got value of type {given} but expected type {wanted} "
            f"for input {end.index}, name: {name} "
        )
    if problem == "byte-order":
        return ""
    start = "Cannot set tensor: Dimension mismatch. Got"
    if len(array.shape) != len(end.shape):
        return f"{start} {array.ndim} but expected {len(end.shape)} for input {end.index}."
    for place, (given_size, wanted_size) in enumerate(zip(array.shape, end.shape, strict=True)):
        if given_size != wanted_size:
            return (
                f"{start} {given_size} but expected {wanted_size} for dimension {place} of input {end.index}."
            )
    return ""
