"""Tensor buffers of a compiled model: arrays of ours, checked when they are written and when they are read.

LiteRT's own take any array: short ones, other types, and read past what was computed. These hold a copy here;
the worker gets it when the model is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.interpreter import feeds
from outlive.verbs.judging import JUDGE

__all__ = ["TensorBuffer"]

_DESTROYED = "TensorBuffer has been destroyed"


class TensorBuffer:
    """One input or output of a compiled model; methods as LiteRT's TensorBuffer has them."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        """Room for a tensor of this type and shape, filled with zeros."""
        self._name = str(details.get("name", ""))
        self._index = int(details.get("index", -1))
        self._dtype = np.dtype(str(details["dtype"]))
        self._shape = tuple(int(size) for size in details["shape"])
        self._array: NDArray[Any] | None = np.zeros(self._shape, self._dtype)
        self.was_written = False

    @classmethod
    def create_from_host_memory(cls, data_array: NDArray[Any]) -> TensorBuffer:
        """A buffer that holds what this array holds now."""
        if not isinstance(data_array, np.ndarray):
            raise ValueError("data_array must be a NumPy array")
        if not data_array.flags.c_contiguous:
            raise ValueError("data_array must be C-contiguous for zero-copy host-memory binding")
        made = cls({"dtype": data_array.dtype.name, "shape": data_array.shape})
        made._array = data_array.copy()
        made.was_written = True
        return made

    def write(self, data_array: NDArray[Any]) -> None:
        """Take the values of an array of the tensor's type and shape.

        Also in one row, or with dimensions of 1 more or less, as the values then lie in the same order.
        `InputError` for anything else, before anything is written.
        """
        if not isinstance(data_array, np.ndarray):
            raise ValueError("data_array must be a NumPy array")
        array = self._held()
        if data_array.dtype == array.dtype and self._lies_alike(data_array):
            array[...] = data_array.reshape(self._shape)
            self.was_written = True
            return
        raise self._misfit(data_array)

    def read(self, num_elements: int, output_dtype: Any) -> NDArray[Any]:
        """The values in one row. `InputError` if these are not the tensor's own number and type."""
        array = self._held()
        wanted = np.dtype(output_dtype)
        if wanted != array.dtype or num_elements != array.size:
            raise self._misfit(np.empty((int(num_elements),) if num_elements >= 0 else (0,), wanted))
        values: NDArray[Any] = array.reshape(-1).copy()
        return values

    def get_tensor_details(self) -> dict[str, Any]:
        """Its type and shape."""
        self._held()
        return {"dtype": self._dtype.name, "shape": list(self._shape)}

    def destroy(self) -> None:
        """Let go of its memory; it cannot be used any more."""
        self._array = None

    @property
    def capsule(self) -> Any:
        """LiteRT's own pointer: there is none here, as the memory it points to is the worker's."""
        raise RuntimeError("the native buffer lives in a worker; give the TensorBuffer itself")

    def _held(self) -> NDArray[Any]:
        if self._array is None:
            raise ValueError(_DESTROYED)
        return self._array

    def _lies_alike(self, value: NDArray[Any]) -> bool:
        """True if values of this shape lie in memory as those of the tensor do."""
        if value.size != self._held().size:
            return False
        sizes = [size for size in value.shape if size != 1]
        return value.ndim == 1 or sizes == [size for size in self._shape if size != 1]

    def _misfit(self, value: NDArray[Any]) -> Exception:
        end = feeds.IoTensor(
            index=self._index,
            dtype=self._dtype.str,
            shape=self._shape,
            size=int(self._held().nbytes),
            offset=None,
        )
        problem = feeds.problem_with(value, end) or "wrong-shape"
        text = feeds.mismatch_text(problem, value, end, self._name)
        return JUDGE.refused(feeds.describe_call(problem, value, end, self._name, text))

    # What the model that owns it does with it.

    def fits(self, details: Mapping[str, Any]) -> bool:
        """True if it has the type and shape that a tensor has now."""
        same = self._shape == tuple(int(size) for size in details["shape"])
        return same and self._dtype == np.dtype(str(details["dtype"]))

    def value(self) -> NDArray[Any]:
        """What it holds, not a copy."""
        return self._held()

    def take(self, value: NDArray[Any]) -> None:
        """Hold what the model has computed."""
        self._held()[...] = value.reshape(self._shape)
