"""An array in a few numbers: what can be said of a value before it is given to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
