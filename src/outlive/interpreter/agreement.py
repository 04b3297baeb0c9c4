"""How far two sets of outputs are apart, and how far kernels of that kind usually are."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# What is normal, as a share of the largest magnitude in the output. Kernels for float32 order their sums
# otherwise, and fuse; a GPU rounds to half precision (10 bits) at each of many layers unless told not to.
_SHARES = {"float32": 1e-3, "float16": 5e-2}
_FLOORS = {"float32": 1e-5, "float16": 2e-3}
# Quantized values: kernels round halves differently, layer for layer; a GPU computes them as real numbers.
_STEPS = {"float32": 8.0, "float16": 20.0}
_QUANTIZED_SHARE = 5e-2

Values = Mapping[int, NDArray[Any]]


class Apart(NamedTuple):
    """How far one output is from its like; beyond `allowed` it is another result."""

    largest: float
    mean: float
    allowed: float
    output: str

    @property
    def excess(self) -> tuple[float, float]:
        """What outputs are sorted by: how often the allowed difference fits in, then the difference."""
        return (0.0, 0.0) if self.largest == 0 else (self.largest / max(self.allowed, 1e-30), self.largest)


def furthest_apart(
    rows: Sequence[Mapping[str, Any]],
    reference: Values,
    values: Values,
    *,
    arithmetic: str,
    quantized: bool = False,
) -> Apart:
    """The output that is furthest from what is normal; `rows` are the details of the outputs.

    `quantized` is a model that computes with quantized values within: floats that come of them are as coarse.
    """
    found = []
    for row in rows:
        index = int(row["index"])
        if index in reference and index in values:
            largest, mean = _distance(reference[index], values[index])
            allowed = _allowed(row, reference[index], arithmetic, quantized)
            found.append(Apart(largest, mean, allowed, str(row["name"])))
    return max(found, key=lambda apart: apart.excess, default=Apart(0.0, 0.0, 0.0, ""))


def _distance(reference: NDArray[Any], value: NDArray[Any]) -> tuple[float, float]:
    """The largest and the mean difference; what is a number on one side only is infinitely far away.

    For strings, the count and the share of values that are not the same.
    """
    reference, value = np.asarray(reference), np.asarray(value)
    if reference.shape != value.shape:
        return float("inf"), float("inf")
    if reference.size == 0:
        return 0.0, 0.0
    if reference.dtype.kind not in "biufc":
        unlike = float(np.count_nonzero(reference != value))
        return unlike, unlike / reference.size
    wide = np.complex128 if reference.dtype.kind == "c" else np.float64
    first, second = reference.astype(wide), value.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(first - second)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    apart = np.where(same, 0.0, np.where(np.isfinite(apart), apart, np.inf))
    return float(apart.max()), float(apart.mean())


def _allowed(row: Mapping[str, Any], reference: NDArray[Any], arithmetic: str, coarse: bool) -> float:
    reference = np.asarray(reference)
    kind = reference.dtype.kind
    if kind in "fc":
        finite = np.abs(reference[np.isfinite(reference)])
        magnitude = float(finite.max()) if finite.size else 0.0
        share = max(_SHARES[arithmetic], _QUANTIZED_SHARE if coarse else 0.0)
        return max(share * magnitude, _FLOORS[arithmetic])
    quantized = len(row["quantization_parameters"]["scales"]) > 0
    if kind not in "iu" or not quantized:
        return 0.0
    # Sixteen bits have 256 times the steps for the same range.
    return _STEPS[arithmetic] * (1 if reference.dtype.itemsize == 1 else 64)
