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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.model import Tensor
from outlive.quant.drift import Metrics, OutputDrift, PerSample, decibels

# A block of so many numbers of 4 bytes stays in a processor's caches; smaller ones cost more calls than work.
BLOCK = 1 << 17
# Rows of products: short enough for 32 bits, and for BLAS to stay in the thread that asks (OpenBLAS divides
# vectors of more than 10,000 numbers among threads, which wait for each other longer than the work takes).
_ROW = 1 << 10
_SHORT = 1 << 12
# Squares of less than this come near to the least that 32 bits hold (1e-38).
_TINY = 1e-15
# The methods of arrays reach these by a detour that costs as much as they do.
_least, _most, _sum = np.minimum.reduce, np.maximum.reduce, np.add.reduce
_ONES = np.ones(_ROW)
# The reference's and the candidate's output of one sample, as real numbers -> a number; they are averaged.
# A metric with three arguments also gets the number of the sample, from 0: labels can be looked up by it.
UserMetric = Callable[..., float]


@dataclass(slots=True)
class ValueBlock:
    """A block of the candidate's values, as real numbers and as integers, and what is known of it."""

    real: NDArray[Any]
    raw: NDArray[Any] | None
    power: float = -1.0
    ends: tuple[int, int] | None = None

    def take(self, good: NDArray[np.bool_]) -> ValueBlock:
        """Some of the values only."""
        return ValueBlock(self.real[good], None if self.raw is None else self.raw[good])

    def least_and_most(self) -> tuple[int, int]:
        """The least and the greatest of the integers."""
        if self.ends is None:
            assert self.raw is not None
            self.ends = int(_least(self.raw)), int(_most(self.raw))
        return self.ends


@dataclass(slots=True)
class CandidateValues:
    """The candidate's values of one tensor and sample; what both views need of them is computed once."""

    real: NDArray[Any]
    raw: NDArray[Any] | None = None
    _blocks: list[ValueBlock] = field(default_factory=list)

    def blocks(self) -> Iterator[tuple[slice, ValueBlock]]:
        """The values block by block."""
        if not self._blocks:
            real, raw = self.real.reshape(-1), None if self.raw is None else self.raw.reshape(-1)
            for start in range(0, real.size, BLOCK):
                part = slice(start, start + BLOCK)
                self._blocks.append(ValueBlock(real[part], None if raw is None else raw[part]))
        for number, block in enumerate(self._blocks):
            yield slice(number * BLOCK, (number + 1) * BLOCK), block


@dataclass(slots=True)
class ErrorSums:
    """Sums over values: of the errors, of what should be (`power`, `low`, `high`), and of what is."""

    count: int = 0
    error: float = 0.0
    squared: float = 0.0
    largest: float = 0.0
    power: float = 0.0
    own_power: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @property
    def mean(self) -> float:
        """The mean error."""
        return self.error / self.count

    @property
    def deviation(self) -> float:
        """The standard deviation of the errors."""
        return math.sqrt(max(self.squared / self.count - self.mean**2, 0.0))

    @property
    def is_sound(self) -> bool:
        """True if nothing was too large or too small for the type it was computed in."""
        small = 0 < self.largest < _TINY or 0 < max(-self.low, self.high) < _TINY
        return math.isfinite(self.squared + self.power + self.own_power) and not small

    def add(self, other: ErrorSums) -> None:
        """Add the sums of other values."""
        for name in ("count", "error", "squared", "power", "own_power"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.largest = max(self.largest, other.largest)
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)


def sum_up(wanted: NDArray[Any], own: ValueBlock) -> ErrorSums | None:
    """The sums of values and what they should be; None if any of them is not finite."""
    if wanted.dtype == own.real.dtype == np.float32 and wanted.size >= _SHORT:
        if own.power < 0:
            own.power = _squares(own.real)
        found = _summed(wanted, own.real, own.power)
        if found is not None and found.is_sound:
            return found
    real = own.real.astype(np.float64)
    return _summed(wanted.astype(np.float64), real, _squares(real))


def _summed(wanted: NDArray[Any], found: NDArray[Any], own_power: float) -> ErrorSums | None:
    error = found - wanted
    # In 64 bits: where all errors are alike, their deviation is a small difference of large sums.
    precise = error.astype(np.float64, copy=False)
    rows, rest = _rows(precise)
    total = _total(_dots(rows, _ONES)) + _total(rest)
    if not math.isfinite(total):
        return None
    largest = max(float(_most(error)), -float(_least(error)))
    low, high = float(_least(wanted)), float(_most(wanted))
    return ErrorSums(error.size, total, _squares(precise), largest, _squares(wanted), own_power, low, high)


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
    _all: ErrorSums = field(default_factory=ErrorSums)
    _samples: int = 0
    # By sample, added up: standard deviation, mean, largest and mean square of the errors.
    _by_sample: tuple[float, ...] = (0.0,) * 4
    _integers: tuple[int, int] | None = None
    _at_limit: int = 0
    _saturated: int = 0
    _not_finite: int = 0

    def add(self, reference: NDArray[Any], real: NDArray[Any], integers: NDArray[Any] | None = None) -> None:
        """One sample: what it should be, what it is, and the integers that stand for it."""
        self.hold(reference, CandidateValues(real, integers))

    def hold(self, reference: NDArray[Any], own: CandidateValues) -> None:
        """One sample: what it should be, and the candidate's values, which other statistics may hold too."""
        wanted = reference.reshape(-1)
        if wanted.size != own.real.size:
            raise ValueError(f"{wanted.size} values cannot be compared with {own.real.size}")
        sample = ErrorSums()
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):  # what is not finite is left out
            for part, block in own.blocks():
                self._add_block(sample, wanted[part], block)
        if sample.count:
            self._all.add(sample)
            self._samples += 1
            more = (sample.deviation, sample.mean, sample.largest, sample.squared / sample.count)
            self._by_sample = tuple(map(sum, zip(self._by_sample, more, strict=True)))

    def _add_block(self, sample: ErrorSums, wanted: NDArray[Any], own: ValueBlock) -> None:
        sums = sum_up(wanted, own)
        if sums is None:
            good = np.isfinite(wanted) & np.isfinite(own.real)
            self._not_finite += int(good.size - np.count_nonzero(good))
            wanted, own = wanted[good], own.take(good)
            sums = sum_up(wanted, own) if wanted.size else None
        if sums is None:
            return
        sample.add(sums)
        if own.raw is not None and self.grid is not None:
            least, most = own.least_and_most()
            before = self._integers or (least, most)
            self._integers = min(before[0], least), max(before[1], most)
            low, high = self.grid.low - self.grid.scale / 2, self.grid.high + self.grid.scale / 2
            if least <= self.grid.least:
                self._count_limit(own.raw == self.grid.least, sums.low < low, lambda: wanted < low)
            if most >= self.grid.most:
                self._count_limit(own.raw == self.grid.most, sums.high > high, lambda: wanted > high)

    def _count_limit(self, at_limit: Any, any_beyond: bool, beyond: Callable[[], Any]) -> None:
        self._at_limit += int(np.count_nonzero(at_limit))
        if any_beyond:
            self._saturated += int(np.count_nonzero(at_limit & beyond()))

    def metrics(self) -> Metrics | None:
        """The numbers over all samples; None if no value was seen at all."""
        every, grid = self._all, self.grid
        if not every.count:
            return _nothing(self._not_finite) if self._not_finite else None
        squared = every.squared / every.count
        rmse = math.sqrt(squared)
        norm = math.sqrt(every.power) * math.sqrt(every.own_power)
        product = (every.power + every.own_power - every.squared) / 2  # a pass less than products
        return Metrics(
            num_elements=every.count,
            stddev=every.deviation,
            mean_error=every.mean,
            max_abs_error=every.largest,
            mean_squared_error=squared,
            rmse=rmse,
            sqnr_db=decibels(every.power, every.squared),
            cosine=product / norm if norm else float(every.power == every.own_power),
            reference_min=every.low,
            reference_max=every.high,
            rmse_over_scale=None if grid is None else rmse / grid.scale,
            at_limit_share=None if grid is None else self._at_limit / every.count,
            saturated_share=None if grid is None else self._saturated / every.count,
            range_used=self._range_used(),
            rmse_over_ideal_step=self._over_ideal(rmse),
            not_finite=self._not_finite,
        )

    def per_sample(self) -> PerSample | None:
        """TensorFlow's metrics: the mean of those of each sample."""
        if not self._samples:
            return None
        stddev, mean, largest, squared = (total / self._samples for total in self._by_sample)
        return PerSample(
            num_elements=self._all.count / self._samples,
            stddev=stddev,
            mean_error=mean,
            max_abs_error=largest,
            mean_squared_error=squared,
        )

    def _range_used(self) -> float | None:
        if self.grid is None or self._integers is None:
            return None
        return (self._integers[1] - self._integers[0]) / (self.grid.most - self.grid.least)

    def _over_ideal(self, rmse: float) -> float | None:
        """The error in steps of the grid that would just hold the values seen, and 0 with them."""
        span = max(self._all.high, 0.0) - min(self._all.low, 0.0)
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


def count_agreeing(wanted: NDArray[Any], found: NDArray[Any]) -> tuple[int, int]:
    """How many rows have their greatest value at the same place, and how many rows there are."""
    width = wanted.shape[-1] if wanted.ndim else 1
    if width < 2 or not wanted.size:
        return 0, 0
    theirs, ours = wanted.reshape(-1, width).argmax(1), found.reshape(-1, width).argmax(1)
    return int(np.count_nonzero(theirs == ours)), len(theirs)


class OutputStatistics:
    """One output, sample by sample: its errors, whether the greatest value agrees, and the user's metrics."""

    def __init__(
        self, candidate: int, reference: int, grid: Grid | None, metrics: Mapping[str, UserMetric]
    ) -> None:
        """Begin with nothing seen."""
        self.candidate, self.reference = candidate, reference
        self._errors = ErrorStatistics(grid=grid)
        self._metrics = {name: _numbered(metric) for name, metric in metrics.items()}
        self._why = ""
        self._sums = dict.fromkeys(metrics, 0.0)
        self._rows = self._agreeing = self._samples = 0

    def add(self, wanted: NDArray[Any], found: NDArray[Any], raw: NDArray[Any]) -> None:
        """One sample, as real numbers and as integers."""
        for name, metric in self._metrics.items():
            self._sums[name] += float(metric(wanted, found, self._samples))
        self._samples += 1
        if wanted.size != found.size or not wanted.size:
            self._why = f"it has {_values(found.shape)}, the reference's {_values(wanted.shape)}"
            return
        self._errors.add(wanted, found, raw if self._errors.grid is not None else None)
        agreeing, rows = count_agreeing(wanted, found)
        self._agreeing += agreeing
        self._rows += rows

    def drift(self, candidate: Sequence[Tensor], reference: Sequence[Tensor]) -> OutputDrift:
        """The drift over all samples."""
        return OutputDrift(
            name=candidate[self.candidate].name,
            index=self.candidate,
            reference_name=reference[self.reference].name,
            metrics=self._errors.metrics(),
            why=self._why,
            argmax_agreement=self._agreeing / self._rows if self._rows else None,
            user_metrics={name: total / max(self._samples, 1) for name, total in self._sums.items()},
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
