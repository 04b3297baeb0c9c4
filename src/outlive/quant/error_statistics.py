"""Streamed error statistics of tensors and outputs: sums, extremes and counts; the values are not kept.

Values are summed block by block, so that a block stays in the processor's cache. A dot product of 32-bit rows
of a thousand numbers is off by less than one part in a million, and rows are added in 64 bits: enough for the
power of a signal. Errors are summed in 64 bits, and so are values whose squares 32 bits cannot hold, and
short blocks. Errors are pooled over all samples, and also averaged by sample, as TensorFlow's debugger does.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outlive.model import Tensor
from outlive.quant.drift import Metrics, OutputDrift, PerSample

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
class ValueBlock:
    """A piece of the candidate's values, as real numbers and as they are written, and what is known of it."""

    real: NDArray[Any]
    raw: NDArray[Any] | None
    power: float = -1.0
    ends: tuple[int, int] | None = None

    def take(self, good: NDArray[np.bool_]) -> ValueBlock:
        """Some of the values only."""
        return ValueBlock(self.real[good], None if self.raw is None else self.raw[good])

    def least_and_most(self) -> tuple[int, int]:
        """The ends of the integers."""
        if self.ends is None:
            assert self.raw is not None
            self.ends = int(_least(self.raw)), int(_most(self.raw))
        return self.ends


@dataclass(slots=True)
class CandidateValues:
    """The candidate's values of one tensor and sample; what both views need of them is computed once."""

    real: NDArray[Any]
    raw: NDArray[Any] | None = None
    _pieces: list[ValueBlock] = field(default_factory=list)

    def pieces(self) -> Iterator[tuple[slice, ValueBlock]]:
        """The values piece by piece."""
        if not self._pieces:
            real, raw = self.real.reshape(-1), None if self.raw is None else self.raw.reshape(-1)
            for start in range(0, real.size, PIECE):
                part = slice(start, start + PIECE)
                self._pieces.append(ValueBlock(real[part], None if raw is None else raw[part]))
        for number, piece in enumerate(self._pieces):
            yield slice(number * PIECE, (number + 1) * PIECE), piece


class BlockSums(NamedTuple):
    """What the values of a piece come to: of the errors, of what should be, and of what is."""

    size: int
    error: float
    squared: float
    largest: float
    power: float
    own_power: float
    low: float
    high: float


def sum_up(wanted: NDArray[Any], own: ValueBlock) -> BlockSums | None:
    """The sums of values and what they should be; None if any of them is not finite."""
    if wanted.dtype == own.real.dtype == np.float32 and wanted.size >= _SHORT:
        if own.power < 0:
            own.power = _squares(own.real)
        piece = _summed(wanted, own.real, own.power)
        if piece is not None and _is_sound(piece):
            return piece
    found = own.real.astype(np.float64)
    return _summed(wanted.astype(np.float64), found, _squares(found))


def _is_sound(piece: BlockSums) -> bool:
    """True if nothing was too large or too small for the type it was computed in."""
    small = 0 < piece.largest < _TINY or 0 < max(-piece.low, piece.high) < _TINY
    return math.isfinite(piece.squared + piece.power + piece.own_power) and not small


def _summed(wanted: NDArray[Any], found: NDArray[Any], own_power: float) -> BlockSums | None:
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
    return BlockSums(error.size, total, _squares(precise), largest, _squares(wanted), own_power, low, high)


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


@dataclass(slots=True)
class _ErrorSums:
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

    def add(self, other: _ErrorSums) -> None:
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
class ErrorStatistics:
    """The running statistics of one tensor against what it should be."""

    grid: Grid | None = None
    levels: int = 256
    _all: _ErrorSums = field(default_factory=_ErrorSums)
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
        self.hold(reference, CandidateValues(real, integers))

    def hold(self, reference: NDArray[Any], own: CandidateValues) -> None:
        """One sample: what it should be, and the candidate's values, which other tallies may hold too."""
        wanted = reference.reshape(-1)
        if wanted.size != own.real.size:
            raise ValueError(f"{wanted.size} values cannot be held against {own.real.size}")
        sample = _ErrorSums()
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):  # what is not finite is left out
            for part, piece in own.pieces():
                self._add_piece(sample, wanted[part], piece)
        if sample.count:
            self._close(sample)

    def _add_piece(self, sample: _ErrorSums, wanted: NDArray[Any], own: ValueBlock) -> None:
        piece = sum_up(wanted, own)
        if piece is None:
            good = np.isfinite(wanted) & np.isfinite(own.real)
            self._not_finite += int(good.size - np.count_nonzero(good))
            wanted, own = wanted[good], own.take(good)
            piece = sum_up(wanted, own) if wanted.size else None
        if piece is None:
            return
        sample.add(_ErrorSums(piece.size, piece.error, piece.squared, piece.largest))
        self._power += piece.power
        self._own_power += piece.own_power
        self._product += (piece.power + piece.own_power - piece.squared) / 2  # a pass less than products
        self._low, self._high = min(self._low, piece.low), max(self._high, piece.high)
        if own.raw is not None and self.grid is not None:
            self._add_integers(self.grid, wanted, own, (piece.low, piece.high))

    def _add_integers(
        self, grid: Grid, wanted: NDArray[Any], own: ValueBlock, span: tuple[float, float]
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

    def _close(self, sample: _ErrorSums) -> None:
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


# The reference's and the candidate's output of one sample, as real numbers -> a number; they are averaged.
# Who takes three arguments also gets which sample it is, from 0: labels can be looked up by it.
UserMetric = Callable[..., float]


class OutputStatistics:
    """One output, sample by sample."""

    def __init__(
        self, candidate: int, reference: int, grid: Grid | None, metrics: Mapping[str, UserMetric]
    ) -> None:
        """Begin with nothing seen."""
        self.candidate, self.reference = candidate, reference
        self._tally = ErrorStatistics(grid=grid)
        self._metrics = {name: _numbered(metric) for name, metric in metrics.items()}
        self._why = ""
        self._sums = dict.fromkeys(metrics, 0.0)
        self._rows = self._agreeing = self._samples = 0

    def add(self, wanted: NDArray[Any], found: NDArray[Any], raw: NDArray[Any]) -> None:
        """One sample, as real numbers and as it was written."""
        for name, metric in self._metrics.items():
            self._sums[name] += float(metric(wanted, found, self._samples))
        self._samples += 1
        if wanted.size != found.size or not wanted.size:
            self._why = f"it has {_values(found.shape)}, the reference's {_values(wanted.shape)}"
            return
        self._tally.add(wanted, found, raw if self._tally.grid is not None else None)
        width = wanted.shape[-1] if wanted.ndim else 1
        if width > 1:
            theirs, ours = wanted.reshape(-1, width).argmax(1), found.reshape(-1, width).argmax(1)
            self._rows += len(theirs)
            self._agreeing += int(np.count_nonzero(theirs == ours))

    def drift(self, candidate: Sequence[Tensor], reference: Sequence[Tensor]) -> OutputDrift:
        """What it comes to."""
        return OutputDrift(
            name=candidate[self.candidate].name,
            index=self.candidate,
            reference_name=reference[self.reference].name,
            metrics=self._tally.metrics(),
            why=self._why,
            argmax_agreement=self._agreeing / self._rows if self._rows else None,
            user_metrics={name: total / max(self._samples, 1) for name, total in self._sums.items()},
        )


def left_out(tensor: Tensor, why: str) -> OutputDrift:
    """An output that nothing can be held against, and why."""
    return OutputDrift(
        name=tensor.name, index=tensor.index, reference_name="", metrics=None, argmax_agreement=None, why=why
    )


def _numbered(metric: UserMetric) -> UserMetric:
    """The metric as a function of both outputs and the sample's number."""
    try:
        inspect.signature(metric).bind(None, None, 0)
    except (TypeError, ValueError):  # two arguments, or a library's function that does not say
        return lambda wanted, found, number: metric(wanted, found)
    return metric


def _values(shape: tuple[int, ...]) -> str:
    sizes = "x".join(map(str, shape)) or "1"
    return f"{int(np.prod(shape)):,} values ({sizes})"
