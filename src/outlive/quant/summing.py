"""The sums of pieces of values: in 32 bits where those are enough, and in 64 where they are not.

A dot product of 32 bits over a thousand numbers is off by less than one part in a million, and the sums of
such rows are added up in 64 bits: enough for the power of a signal. Errors are summed up in 64 bits, and so
are numbers whose squares 32 bits cannot hold, and pieces that are so short that it makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# What is done with so many numbers of 4 bytes stays in a processor's caches; fewer cost more calls than work.
PIECE = 1 << 17
# Rows of products: short enough for 32 bits, and for BLAS to stay in the thread that asks (OpenBLAS divides
# vectors of more than 10,000 numbers among threads, which wait for each other longer than the work takes).
_ROW = 1 << 10
_SHORT = 1 << 12
# Squares of less than this come near to the least that 32 bits hold (1e-38).
_TINY = 1e-15
# The methods of arrays reach these by a detour that costs as much as they do.
_least, _most, _sum = np.minimum.reduce, np.maximum.reduce, np.add.reduce
_ONES = np.ones(_ROW)


@dataclass(slots=True)
class OwnPiece:
    """A piece of the candidate's values, as real numbers and as they are written, and what is known of it."""

    real: NDArray[Any]
    raw: NDArray[Any] | None
    power: float = -1.0
    ends: tuple[int, int] | None = None

    def take(self, good: NDArray[np.bool_]) -> OwnPiece:
        """Some of the values only."""
        return OwnPiece(self.real[good], None if self.raw is None else self.raw[good])

    def least_and_most(self) -> tuple[int, int]:
        """The ends of the integers."""
        if self.ends is None:
            assert self.raw is not None
            self.ends = int(_least(self.raw)), int(_most(self.raw))
        return self.ends


@dataclass(slots=True)
class Own:
    """The candidate's values of one tensor and sample; what both views need of them is computed once."""

    real: NDArray[Any]
    raw: NDArray[Any] | None = None
    _pieces: list[OwnPiece] = field(default_factory=list)

    def pieces(self) -> Iterator[tuple[slice, OwnPiece]]:
        """The values piece by piece."""
        if not self._pieces:
            real, raw = self.real.reshape(-1), None if self.raw is None else self.raw.reshape(-1)
            for start in range(0, real.size, PIECE):
                part = slice(start, start + PIECE)
                self._pieces.append(OwnPiece(real[part], None if raw is None else raw[part]))
        for number, piece in enumerate(self._pieces):
            yield slice(number * PIECE, (number + 1) * PIECE), piece


class Piece(NamedTuple):
    """What the values of a piece come to: of the errors, of what should be, and of what is."""

    size: int
    error: float
    squared: float
    largest: float
    power: float
    own_power: float
    low: float
    high: float


def sum_up(wanted: NDArray[Any], own: OwnPiece) -> Piece | None:
    """The sums of values and what they should be; None if any of them is not finite."""
    if wanted.dtype == own.real.dtype == np.float32 and wanted.size >= _SHORT:
        if own.power < 0:
            own.power = _squares(own.real)
        piece = _summed(wanted, own.real, own.power)
        if piece is not None and _is_sound(piece):
            return piece
    found = own.real.astype(np.float64)
    return _summed(wanted.astype(np.float64), found, _squares(found))


def _is_sound(piece: Piece) -> bool:
    """True if nothing was too large or too small for the type it was computed in."""
    small = 0 < piece.largest < _TINY or 0 < max(-piece.low, piece.high) < _TINY
    return math.isfinite(piece.squared + piece.power + piece.own_power) and not small


def _summed(wanted: NDArray[Any], found: NDArray[Any], own_power: float) -> Piece | None:
    error = found - wanted
    # In 64 bits: where all errors are alike, their deviation is a small difference of large sums.
    precise = error.astype(np.float64, copy=False)
    rows, rest = _rows(precise)
    total = _total(_dots(rows, _ONES)) + _total(rest)
    if not math.isfinite(total):
        return None
    least, most = float(_least(error)), float(_most(error))
    low, high = float(_least(wanted)), float(_most(wanted))
    largest = max(most, -least)
    return Piece(error.size, total, _squares(precise), largest, _squares(wanted), own_power, low, high)


def _squares(values: NDArray[Any]) -> float:
    rows, rest = _rows(values)
    return _total(_dots(rows, rows)) + float(np.dot(rest, rest))


def _rows(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    whole = values.size - values.size % _ROW
    return values[:whole].reshape(-1, _ROW), values[whole:]


def _total(values: NDArray[Any]) -> float:
    return float(_sum(values, dtype=np.float64))


def _dots(rows: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The sum of products of each row; numpy before 2.0 has no `vecdot`.

    Not a product of matrices: BLAS divides that among threads, which cost more than they bring here.
    """
    if hasattr(np, "vecdot"):
        found: NDArray[Any] = np.vecdot(rows, others)
        return found
    return np.einsum("ij,ij->i", rows, np.broadcast_to(others, rows.shape))  # type: ignore[no-any-return]
