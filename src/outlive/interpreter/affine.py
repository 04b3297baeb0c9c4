"""Real numbers into the integers a model takes, and back, with the model's own scale and zero point.

The arithmetic is that of LiteRT's reference kernels, tflite/kernels/internal/reference/quantize.h and
dequantize.h: the quotient is a float32, halves are rounded away from zero, what is beyond the type is
clamped. Only where their conversion to 32 bits overflows, which may give anything, ours clamps too.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """How the integers of a tensor stand for real numbers: real = scale * (integer - zero_point).

    Without scales the tensor is not quantized, and its values mean what they are.
    """

    name: str
    dtype: np.dtype[Any]
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0

    @property
    def is_quantized(self) -> bool:
        """True if integers stand for other numbers."""
        return bool(self.scales) and self.dtype.kind in "iu"


def affine_of(details: Mapping[str, Any]) -> Affine:
    """The parameters in a row of `get_input_details()` or `get_output_details()`."""
    try:
        found = details["quantization_parameters"]
        return Affine(
            name=str(details.get("name", "")),
            dtype=np.dtype(details["dtype"]),
            scales=tuple(float(scale) for scale in found["scales"]),
            zero_points=tuple(int(zero) for zero in found["zero_points"]),
            axis=int(found.get("quantized_dimension", 0)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("give a row of get_input_details() or get_output_details()") from error


def quantize(affine: Affine, values: Any) -> NDArray[Any]:
    """The integers that stand for real numbers; of a tensor that is not quantized, the values in its type.

    ValueError for NaN, which no integer stands for, and for fractions where integers mean themselves.
    """
    array = np.asarray(values)
    if not affine.is_quantized:
        return _as_they_are(affine, array)
    reals = array.astype(np.float32)
    if np.isnan(reals).any():
        raise ValueError(f"{_called(affine)}: no integer stands for NaN")
    scales, zeros = _along(affine, reals.ndim)
    with np.errstate(over="ignore"):  # a quotient beyond all floats is clamped like every other
        steps = (reals / scales.astype(np.float32)).astype(np.float64)
    limits = np.iinfo(affine.dtype)
    rounded = np.trunc(steps + np.copysign(0.5, steps)) + zeros
    found: NDArray[Any] = np.clip(rounded, limits.min, limits.max).astype(affine.dtype)
    return found


def dequantize(affine: Affine, values: Any) -> NDArray[Any]:
    """The real numbers, as float32, that integers stand for; the values of a tensor that is not quantized."""
    array = np.asarray(values)
    if not affine.is_quantized:
        return array
    scales, zeros = _along(affine, array.ndim)
    found: NDArray[Any] = (scales * (array.astype(np.int64) - zeros)).astype(np.float32)
    return found


def find_row(rows: Sequence[Mapping[str, Any]], wanted: int | str) -> Mapping[str, Any]:
    """The row of a tensor by its index or name; ValueError with the names there are, if there is none."""
    names = {str(row["name"]): row for row in rows}
    if isinstance(wanted, str):
        short = {name.removeprefix("serving_default_").split(":")[0]: row for name, row in names.items()}
        found = names.get(wanted, short.get(wanted))
    else:
        found = next((row for row in rows if row["index"] == wanted), None)
    if found is not None:
        return found
    near = difflib.get_close_matches(str(wanted), names, 3, 0.4) or list(names)[:8]
    known = ", ".join(f"{names[name]['index']} {name[:80]!r}" for name in near)
    raise ValueError(f"unknown tensor {wanted!r:.80} here; there is {known or 'none'}")


def _along(affine: Affine, rank: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scales and zero points, laid along their axis where there is one for each channel."""
    count = len(affine.scales)
    zeros = affine.zero_points or (0,) * count
    if len(zeros) != count or not all(scale > 0 for scale in affine.scales):
        raise ValueError(f"{_called(affine)}: invalid scales and zero points")
    shape = [1] * rank
    if count > 1 and affine.axis < rank:
        shape[affine.axis] = count
    elif count > 1:
        raise ValueError(f"{_called(affine)}: it has {count} scales along dimension {affine.axis}")
    laid = (np.array(affine.scales, np.float64), np.array(zeros, np.int64))
    return laid[0].reshape(shape), laid[1].reshape(shape)


def _as_they_are(affine: Affine, array: NDArray[Any]) -> NDArray[Any]:
    if affine.dtype.kind in "iu" and array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        raise ValueError(f"{_called(affine)} is not quantized")
    return array.astype(affine.dtype, copy=False)


def _called(affine: Affine) -> str:
    return f"tensor {affine.name[:80]!r}" if affine.name else "the tensor"
