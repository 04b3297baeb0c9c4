"""Statistics that are added up as values pass: sums, extremes and counts, never the values themselves.

Sums are kept in 64 bits and taken over pieces that stay in the processor's cache; errors are pooled over all
samples, and kept once more sample by sample, because TensorFlow's debugger averages over samples. How a piece
is summed up is in `summing`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.quant.nouns import Metrics, PerSample
from outlive.quant.summing import Own, OwnPiece, sum_up


@dataclass(slots=True)
class _Sums:
    """What is added up; of one sample, or of all."""

    count: int = 0
    error: float = 0.0
    squared: float = 0.0
    largest: float = 0.0

    @property
    def mean(self) -> float:
        return self.error / self.count

    @property
    def deviation(self) -> float:
        return math.sqrt(max(self.squared / self.count - self.mean**2, 0.0))

    def add(self, other: _Sums) -> None:
        self.count += other.count
        self.error += other.error
        self.squared += other.squared
        self.largest = max(self.largest, other.largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The integers a quantized tensor has, and the real numbers at their ends."""

    least: int
    most: int
    scale: float
    zero_point: int
    # The step that the runtime prescribes for an operator's output; 0 if it leaves it open.
    fixed_step: float = 0.0

    @property
    def low(self) -> float:
        """The least real number that can be held."""
        return self.scale * (self.least - self.zero_point)

    @property
    def high(self) -> float:
        """The greatest real number that can be held."""
        return self.scale * (self.most - self.zero_point)


@dataclass(slots=True)
class ErrorTally:
    """The running statistics of one tensor against what it should be."""

    grid: Grid | None = None
    levels: int = 256
    _all: _Sums = field(default_factory=_Sums)
    _samples: int = 0
    _stddevs: float = 0.0
    _means: float = 0.0
    _maxima: float = 0.0
    _squares: float = 0.0
    _power: float = 0.0
    _own_power: float = 0.0
    _product: float = 0.0
    _low: float = math.inf
    _high: float = -math.inf
    _least: int | None = None
    _most: int | None = None
    _at_limit: int = 0
    _saturated: int = 0
    _not_finite: int = 0

    def add(self, reference: NDArray[Any], real: NDArray[Any], integers: NDArray[Any] | None = None) -> None:
        """One sample: what it should be, what it is, and the integers that stand for it."""
        self.hold(reference, Own(real, integers))

    def hold(self, reference: NDArray[Any], own: Own) -> None:
        """One sample: what it should be, and the candidate's values, which other tallies may hold too."""
        wanted = reference.reshape(-1)
        if wanted.size != own.real.size:
            raise ValueError(f"{wanted.size} values cannot be held against {own.real.size}")
        sample = _Sums()
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):  # what is not finite is left out
            for part, piece in own.pieces():
                self._add_piece(sample, wanted[part], piece)
        if sample.count:
            self._close(sample)

    def _add_piece(self, sample: _Sums, wanted: NDArray[Any], own: OwnPiece) -> None:
        piece = sum_up(wanted, own)
        if piece is None:
            good = np.isfinite(wanted) & np.isfinite(own.real)
            self._not_finite += int(good.size - np.count_nonzero(good))
            wanted, own = wanted[good], own.take(good)
            piece = sum_up(wanted, own) if wanted.size else None
        if piece is None:
            return
        sample.add(_Sums(piece.size, piece.error, piece.squared, piece.largest))
        self._power += piece.power
        self._own_power += piece.own_power
        self._product += (piece.power + piece.own_power - piece.squared) / 2  # a pass less than products
        self._low, self._high = min(self._low, piece.low), max(self._high, piece.high)
        if own.raw is not None and self.grid is not None:
            self._add_integers(self.grid, wanted, own, (piece.low, piece.high))

    def _add_integers(
        self, grid: Grid, wanted: NDArray[Any], own: OwnPiece, span: tuple[float, float]
    ) -> None:
        raw = own.raw
        assert raw is not None
        least, most = own.least_and_most()
        self._least = least if self._least is None else min(self._least, least)
        self._most = most if self._most is None else max(self._most, most)
        low, high = grid.low - grid.scale / 2, grid.high + grid.scale / 2
        if least <= grid.least:
            below = raw == grid.least
            self._at_limit += int(np.count_nonzero(below))
            if span[0] < low:
                self._saturated += int(np.count_nonzero(below & (wanted < low)))
        if most >= grid.most:
            above = raw == grid.most
            self._at_limit += int(np.count_nonzero(above))
            if span[1] > high:
                self._saturated += int(np.count_nonzero(above & (wanted > high)))

    def _close(self, sample: _Sums) -> None:
        self._all.add(sample)
        self._samples += 1
        self._stddevs += sample.deviation
        self._means += sample.mean
        self._maxima += sample.largest
        self._squares += sample.squared / sample.count

    def metrics(self) -> Metrics | None:
        """The numbers over all samples; None if no value was seen at all."""
        every = self._all
        if not every.count:
            return _nothing(self._not_finite) if self._not_finite else None
        squared = every.squared / every.count
        rmse = math.sqrt(squared)
        own = self.grid
        norm = math.sqrt(self._power) * math.sqrt(self._own_power)
        return Metrics(
            num_elements=every.count,
            stddev=every.deviation,
            mean_error=every.mean,
            max_abs_error=every.largest,
            mean_squared_error=squared,
            rmse=rmse,
            sqnr_db=_decibels(self._power, every.squared),
            cosine=self._product / norm if norm else float(self._power == self._own_power),
            reference_min=self._low,
            reference_max=self._high,
            rmse_over_scale=None if own is None else rmse / own.scale,
            at_limit_share=None if own is None else self._at_limit / every.count,
            saturated_share=None if own is None else self._saturated / every.count,
            range_used=self._range_used(),
            rmse_over_ideal_step=self._over_ideal(rmse),
            not_finite=self._not_finite,
        )

    def per_sample(self) -> PerSample | None:
        """TensorFlow's metrics: the mean of those of each sample."""
        count = self._samples
        if not count:
            return None
        return PerSample(
            num_elements=self._all.count / count,
            stddev=self._stddevs / count,
            mean_error=self._means / count,
            max_abs_error=self._maxima / count,
            mean_squared_error=self._squares / count,
        )

    def _range_used(self) -> float | None:
        if self.grid is None or self._least is None or self._most is None:
            return None
        return (self._most - self._least) / (self.grid.most - self.grid.least)

    def _over_ideal(self, rmse: float) -> float | None:
        """The error in steps of the grid that would just hold the values seen, and 0 with them."""
        span = max(self._high, 0.0) - min(self._low, 0.0)
        step = max(span / (self.levels - 1), self.grid.fixed_step if self.grid is not None else 0.0)
        if step > 0:
            return rmse / step
        if rmse == 0:
            return 0.0
        return None if self.grid is None else rmse / self.grid.scale  # all should be 0, and is not


def _nothing(not_finite: int) -> Metrics:
    """The metrics of values none of which is finite."""
    names = ("stddev", "mean_error", "max_abs_error", "mean_squared_error", "rmse", "sqnr_db", "cosine")
    unknown = dict.fromkeys((*names, "reference_min", "reference_max"), math.nan)
    return Metrics(num_elements=0, not_finite=not_finite, **unknown)


def _decibels(power: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * math.log10(power / noise) if power > 0 else -math.inf
