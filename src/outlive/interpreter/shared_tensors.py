"""Inputs and outputs as arrays in the shared block, and the checks before anything is written to them."""

from __future__ import annotations

from threading import Thread, current_thread, get_ident
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from outlive.errors import InputError
from outlive.interpreter.judge import Call, Judge
from outlive.interpreter.session import End


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


Tensors = dict[int, NDArray[Any]]


class Desk:
    """Keeps apart what different threads set and get.

    One thread alone works on the shared block directly. As soon as a second one sets an input, each thread's
    inputs are kept aside until it invokes, and the results of that run are kept for it alone. All threads
    start from what the first one had set by then. Views of the block are the same for all.
    """

    def __init__(self) -> None:
        """Nobody has come yet."""
        self._owner = 0
        self.shared = False
        self._start: tuple[Tensors, Tensors] = {}, {}
        # What a thread kept goes with the thread.
        self._inputs: WeakKeyDictionary[Thread, Tensors] = WeakKeyDictionary()
        self._results: WeakKeyDictionary[Thread, Tensors] = WeakKeyDictionary()

    def alone(self) -> bool:
        """True while this thread is the only one, so that it may write to the block directly."""
        if self._owner == get_ident():
            return not self.shared
        if not self._owner:
            self._owner = get_ident()
            return True
        return False

    def open(self, inputs: Tensors, results: Tensors) -> None:
        """Be ready for more than one: this is what has been set and computed so far."""
        self.shared = True
        self._start = inputs, results

    def inputs(self) -> Tensors:
        """What this thread has set, by index."""
        thread = current_thread()
        if thread not in self._inputs:
            self._inputs[thread] = dict(self._start[0])
        return self._inputs[thread]

    def keep(self, results: Tensors) -> None:
        """Keep the results of a run for this thread."""
        self._results[current_thread()] = results

    def result(self, index: int) -> NDArray[Any] | None:
        """This thread's own result, if it has one."""
        return self._results.get(current_thread(), self._start[1]).get(index)
