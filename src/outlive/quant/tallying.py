"""Statistics that are added up as values pass: sums, extremes and counts, never the values themselves.

Sums are kept in 64 bits and taken over pieces that stay in the processor's cache; errors are pooled over all
samples, and kept once more sample by sample, because TensorFlow's debugger averages over samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.quant.nouns import Metrics, PerSample

# 64 Ki numbers of 8 bytes: what is done with a piece stays in a processor's second cache.
_PIECE = 1 << 16
# BLAS multiplies vectors of up to 10,000 numbers in the thread that asks (OpenBLAS, interface/dot.c); longer
# ones it divides among threads, which wait for each other longer than the work takes.
_LONGEST_DOT = 1 << 13
Reals = NDArray[np.float64]


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
class Tally:
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
        wanted, found = reference.reshape(-1), real.reshape(-1)
        if wanted.size != found.size:
            raise ValueError(f"{wanted.size} values cannot be held against {found.size}")
        sample = _Sums()
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is counted and left out
            for start in range(0, wanted.size, _PIECE):
                part = slice(start, start + _PIECE)
                raw = None if integers is None else integers.reshape(-1)[part]
                self._add_piece(sample, wanted[part].astype(np.float64), found[part].astype(np.float64), raw)
        if sample.count:
            self._close(sample)

    def _add_piece(self, sample: _Sums, wanted: Reals, found: Reals, raw: NDArray[Any] | None) -> None:
        error = found - wanted
        total = float(error.sum())
        if not math.isfinite(total):
            wanted, found, error, raw = self._finite(wanted, found, error, raw)
            total = float(error.sum())
        if not error.size:
            return
        largest = max(float(error.max()), -float(error.min()))
        squared, power, own_power = _dot(error, error), _dot(wanted, wanted), _dot(found, found)
        sample.add(_Sums(error.size, total, squared, largest))
        self._power += power
        self._own_power += own_power
        self._product += (power + own_power - squared) / 2  # one pass less than the sum of products
        low, high = float(wanted.min()), float(wanted.max())
        self._low, self._high = min(self._low, low), max(self._high, high)
        if raw is not None and self.grid is not None:
            self._add_integers(self.grid, wanted, raw, (low, high))

    def _finite(self, wanted: Reals, found: Reals, error: Reals, raw: NDArray[Any] | None) -> Any:
        """The piece without what is not finite on either side, which is counted."""
        good = np.isfinite(wanted) & np.isfinite(found)
        self._not_finite += int(good.size - np.count_nonzero(good))
        return wanted[good], found[good], error[good], None if raw is None else raw[good]

    def _add_integers(self, grid: Grid, wanted: Reals, raw: NDArray[Any], span: tuple[float, float]) -> None:
        least, most = int(raw.min()), int(raw.max())
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


def _dot(left: Reals, right: Reals) -> float:
    """The sum of products."""
    starts = range(0, left.size, _LONGEST_DOT)
    return float(sum(np.dot(left[i : i + _LONGEST_DOT], right[i : i + _LONGEST_DOT]) for i in starts))


def _decibels(power: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * math.log10(power / noise) if power > 0 else -math.inf
