"""An array in a few numbers: what can be said of a value that a model is given, and of one it gives."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.process.flight import Flight, OutputSeen, TensorSeen

Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFacts:
    """What an array holds. Minimum, maximum and mean are of its finite numbers; None if there are none."""

    shape: tuple[int, ...]
    dtype: str
    size: int
    minimum: Number | None = None
    maximum: Number | None = None
    mean: float | None = None
    nan_count: int = 0
    infinite_count: int = 0
    all_integers: bool = False

    @property
    def is_float(self) -> bool:
        """True if it is made of real numbers."""
        return "float" in self.dtype

    @property
    def is_constant(self) -> bool:
        """True if it has several values, all of them alike."""
        alike = self.minimum is not None and self.minimum == self.maximum
        return alike and self.size > 1 and not self.nan_count and not self.infinite_count


def look_at(array: NDArray[Any]) -> ArrayFacts:
    """The facts of an array; of text and the like only shape and type."""
    named = array.dtype.name if array.dtype.kind not in "OSU" else "string"
    plain: dict[str, Any] = {"shape": tuple(array.shape), "dtype": named, "size": int(array.size)}
    if array.dtype.kind in "biu" and array.size:
        return ArrayFacts(
            **plain,
            minimum=int(array.min()),
            maximum=int(array.max()),
            mean=float(array.mean(dtype=np.float64)),
            all_integers=True,
        )
    if array.dtype.kind != "f" or not array.size:
        return ArrayFacts(**plain)
    return _look_at_reals(array, plain)


def _look_at_reals(array: NDArray[Any], plain: dict[str, Any]) -> ArrayFacts:
    missing = int(np.count_nonzero(np.isnan(array)))
    infinite = int(np.count_nonzero(np.isinf(array)))
    finite = array if not missing + infinite else array[np.isfinite(array)]
    if not finite.size:
        return ArrayFacts(**plain, nan_count=missing, infinite_count=infinite)
    return ArrayFacts(
        **plain,
        minimum=float(finite.min()),
        maximum=float(finite.max()),
        mean=float(finite.mean(dtype=np.float64)),
        nan_count=missing,
        infinite_count=infinite,
        all_integers=bool(np.all(finite == np.trunc(finite))),
    )


def with_outputs(flight: Flight, rows: list[dict[str, Any]], values: list[Any]) -> Flight:
    """The flight with its outputs; rows are the details of each."""
    pairs = list(zip(rows, values, strict=True))
    outputs = tuple(_describe(row, np.asarray(value)) for row, value in pairs)
    return replace(flight, outputs=outputs, values={str(row["name"]): value for row, value in pairs})


def _describe(row: dict[str, Any], value: NDArray[Any]) -> OutputSeen:
    numeric = value.size > 0 and value.dtype.kind in "biuf"
    data = np.ascontiguousarray(value)
    digest = hashlib.sha256(
        repr(data.tolist()).encode() if data.dtype.kind == "O" else data.reshape(-1).view(np.uint8).data
    )
    return OutputSeen(
        name=str(row["name"]),
        index=int(row["index"]),
        shape=tuple(value.shape),
        dtype=value.dtype.name,
        minimum=float(value.min()) if numeric else None,
        maximum=float(value.max()) if numeric else None,
        sha256=digest.hexdigest(),
        not_finite=count_not_finite(value),
    )


def count_not_finite(value: NDArray[Any]) -> int:
    """How many numbers are NaN or infinite."""
    return value.size - int(np.count_nonzero(np.isfinite(value))) if value.dtype.kind == "f" else 0


def see_tensor(index: int, value: NDArray[Any]) -> TensorSeen:
    """A tensor of one run."""
    low, high = (float(value.min()), float(value.max())) if value.size else (0.0, 0.0)
    return TensorSeen(
        index=index,
        size=value.size,
        not_finite=count_not_finite(value),
        varies=False,
        minimum=low,
        maximum=high,
    )
