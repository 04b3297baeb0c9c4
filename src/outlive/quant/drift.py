"""What a comparison comes to: plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from outlive.finding import Finding, OpPlace
from outlive.model import Model
from outlive.records import NOT_WRITTEN, FileSize, in_document, written
from outlive.results import Listed, file_name
from outlive.units import plural

# From here on noise in an input takes less than a thousandth of the blame.
_CLEAN_DB = 30.0
# From here on the outputs are as good as 8 bits make them.
_GOOD_DB = 20.0
# A range that is half as wide again as it had to be is nothing unusual.
_COARSE = 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """How far values are from what they should be, over all samples together.

    The names of the first five are TensorFlow's; an error is candidate minus reference. `sqnr_db` is the
    power of the reference over the power of the error, in decibels. The rest is None where the candidate's
    values are no quantized integers: `rmse_over_scale`; `at_limit_share`, how many values are the least or
    greatest their type has; `saturated_share`, how many of those should have been beyond; `range_used`, the
    part of the type's levels from the least to the greatest value seen.
    """

    num_elements: int
    stddev: float
    mean_error: float
    max_abs_error: float
    mean_squared_error: float
    rmse: float
    sqnr_db: float
    cosine: float
    reference_min: float
    reference_max: float
    rmse_over_scale: float | None = field(default=None, metadata=written("rmse/scale"))
    at_limit_share: float | None = None
    saturated_share: float | None = None
    range_used: float | None = None
    rmse_over_ideal_step: float | None = None
    not_finite: int = 0

    def as_dict(self) -> dict[str, float | int | None]:
        """The numbers by name; `rmse/scale` is spelled as TensorFlow's guide does."""
        names = [name for name in self.__slots__ if name != "rmse_over_scale"]
        return {**{name: getattr(self, name) for name in names}, "rmse/scale": self.rmse_over_scale}


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSample:
    """TensorFlow's five metrics as its debugger gives them: of each sample, then averaged."""

    num_elements: float
    stddev: float
    mean_error: float
    max_abs_error: float
    mean_squared_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightStatistics:
    """What became of an operator's weights and bias, from both files.

    `weak_channels` of the `channels` have less than a sixteenth of the levels where all share one scale;
    `sqnr_db` is how good the weights of these are so, `per_channel_sqnr_db` how good they would be with a
    scale for each channel. `bias_steps` is the largest bias in steps of its scale, which must not pass
    `bias_room`.
    """

    dtype: str
    scales: int
    channels: int
    weak_channels: int = 0
    sqnr_db: float | None = None
    per_channel_sqnr_db: float | None = None
    bias_steps: float | None = None
    bias_room: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTensor:
    """A tensor of the reference."""

    name: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorDrift:
    """One tensor of the candidate, paired with its tensor in the reference.

    `metrics` compares the tensor after all operators before it, `born_here` after its operator alone; `alone`
    says why `born_here` is missing. `input_sqnr_db` is the lowest signal-to-noise ratio among the operator's
    inputs. `used_sqnr_db` is the lowest among the outputs computed from this tensor, and `used_by` names that
    operator.
    """

    name: str
    index: int
    op: int | None = field(metadata=NOT_WRITTEN)
    op_type: str = field(metadata=NOT_WRITTEN)
    reference_name: str = field(metadata=NOT_WRITTEN)
    reference_index: int = field(metadata=NOT_WRITTEN)
    paired_by: str = "name"
    dtype: str
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int | None
    metrics: Metrics | None
    born_here: Metrics | None
    alone: str = field(default="", metadata=written("why_not_alone", null=True))
    per_sample: PerSample | None = field(default=None, metadata=NOT_WRITTEN)
    input_sqnr_db: float | None = field(default=None, metadata=NOT_WRITTEN)
    has_free_scale: bool = field(default=False, metadata=NOT_WRITTEN)
    weights: WeightStatistics | None = None
    used_sqnr_db: float | None = field(default=None, metadata=NOT_WRITTEN)
    used_by: int | None = field(default=None, metadata=NOT_WRITTEN)
    reference_op: int | None = field(default=None, metadata=NOT_WRITTEN)

    @property
    @in_document("op")
    def place(self) -> OpPlace | None:
        """The operator that makes it."""
        return None if self.op is None else OpPlace(subgraph=0, index=self.op, type=self.op_type)

    @property
    @in_document()
    def reference(self) -> ReferenceTensor:
        """The tensor of the reference that it stands for."""
        return ReferenceTensor(name=self.reference_name, index=self.reference_index)

    @property
    def harm(self) -> float:
        """The share of the signal that the error born here takes, here or where the tensor is used.

        A range that a few large values set leaves the small ones nothing, and as a whole looks good; the next
        operator that mixes them shows it. Of the noise there the share counts that was born here.
        """
        here, total = self.born_here, self.metrics
        if here is None or not here.num_elements:
            return 0.0
        own = _noise(here.sqnr_db)
        if self.used_sqnr_db is None or total is None or not total.mean_squared_error:
            return own
        share = min(1.0, here.mean_squared_error / total.mean_squared_error)
        return max(own, share * _noise(self.used_sqnr_db))

    @property
    @in_document()
    def blame(self) -> float:
        """What layers are ranked by; 0 where nothing is known.

        It is the root mean square of the error that is born here, in steps of a grid that would just hold
        the values. Where the operator's scale is free and much too coarse, half a step counts, the most that
        rounding costs: values that are mostly 0 hide it otherwise. An operator that is fed noise clips it,
        which is not its fault: of its blame only the share counts that is signal in its input, and no more
        than the error that is left in the end, held against the reference's own run.
        """
        if self.born_here is None or self.born_here.rmse_over_ideal_step is None:
            return 0.0
        steps = max(self.born_here.rmse_over_ideal_step * self._left_share(), self._coarseness())
        worst = self.input_sqnr_db
        return steps if worst is None or worst > _CLEAN_DB else steps / (1 + 10 ** (-worst / 10))

    def _left_share(self) -> float:
        """The error in the end by the error born here; 1 if it is not less."""
        here, total = self.born_here, self.metrics
        if here is None or total is None or not here.rmse or not total.num_elements:
            return 1.0
        return min(1.0, total.rmse / here.rmse)

    def _coarseness(self) -> float:
        """Half of the own step, in ideal steps; 0 if it is not much more than that."""
        here = self.born_here
        if here is None or not here.rmse_over_ideal_step or not here.rmse or not self.scale:
            return 0.0
        times = self.scale / (here.rmse / here.rmse_over_ideal_step)
        return times / 2 if self.has_free_scale and times > _COARSE else 0.0


def decibels(power: float, noise: float) -> float:
    """A signal-to-noise ratio in decibels."""
    if noise == 0:
        return math.inf
    return 10 * math.log10(power / noise) if power > 0 else -math.inf


def _noise(ratio_db: float) -> float:
    """The power of the error by that of the signal, at most 1."""
    return min(1.0, 10 ** (-ratio_db / 10)) if ratio_db > -math.inf else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDrift:
    """One output: its metrics, how often the greatest value is at the same place, and the user's metrics.

    Where it could not be compared, `why` says why.
    """

    name: str
    index: int
    reference_name: str = field(metadata=written("reference"))
    metrics: Metrics | None
    argmax_agreement: float | None
    user_metrics: Mapping[str, float] = field(default_factory=dict)
    why: str = field(default="", metadata=written("why_not_compared", null=True))

    @property
    def is_strange(self) -> bool:
        """True if values of it are NaN or infinite, in either model, or nothing can be said therefore."""
        return self.metrics is not None and (self.metrics.not_finite > 0 or math.isnan(self.metrics.sqnr_db))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """A tensor that has no partner, and why."""

    name: str
    index: int
    model: str
    op_type: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSummary:
    """How the work is divided so that it fits the memory that was granted."""

    count: int
    budget_bytes: int
    largest_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputsVerdict:
    """What a comparison came to at the outputs: `name` is for programs, `words` are for people."""

    name: Literal["equal", "differ", "not finite", "not compared"]
    words: str
    tone: Literal["good", "warn", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Drift(Listed[TensorDrift]):
    """How far a candidate is from its reference, tensor by tensor in the order of its operators.

    `source` is the candidate as it was read, and `top` how many layers are shown at first.
    """

    kind: ClassVar[str] = "compare"
    tables = (("tensors", TensorDrift), ("outputs", OutputDrift), ("unpaired", Unpaired))

    samples: int
    tensors: tuple[TensorDrift, ...]
    outputs: tuple[OutputDrift, ...]
    unpaired: tuple[Unpaired, ...] = ()
    turns: PassSummary
    reference_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    candidate_path: str | None = field(default=None, metadata=NOT_WRITTEN)
    reference_bytes: int = field(default=0, metadata=NOT_WRITTEN)
    candidate_bytes: int = field(default=0, metadata=NOT_WRITTEN)
    input_ranges: tuple[InputRange, ...] = field(default=(), metadata=written("inputs"))
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    source: Model | None = field(default=None, compare=False, metadata=NOT_WRITTEN)
    top: int = field(default=3, metadata=NOT_WRITTEN)

    @property
    def verdict(self) -> OutputsVerdict:
        """What `outputs_are`, in words."""
        rows, name = self.outputs, self.outputs_are
        if name == "not finite":
            unusual = [row for row in rows if row.is_strange]
            return OutputsVerdict(name=name, words=_not_finite(unusual, len(rows)), tone="bad")
        if name == "not compared":
            count = sum(1 for row in rows if row.metrics is None or row.why)
            words = f"{_which(count, len(rows))} could not be compared" if rows else "no outputs"
            return OutputsVerdict(name=name, words=words, tone="bad")
        if name == "equal":
            return OutputsVerdict(name=name, words="the outputs are equal", tone="good")
        decibels = min(row.metrics.sqnr_db for row in rows if row.metrics is not None)
        if decibels == -math.inf:
            return OutputsVerdict(name=name, words="an output should be all zeros, and is not", tone="bad")
        words = f"SQNR {decibels:.1f} dB at the outputs"
        return OutputsVerdict(name=name, words=words, tone="good" if decibels >= _GOOD_DB else "warn")

    def _summary(self) -> tuple[str, str]:
        """The files, and what the comparison came to."""
        names = file_name(self.candidate_path or "candidate"), file_name(self.reference_path or "reference")
        return " against ".join(names), f"{self.verdict.words}, {plural(self.samples, 'sample')}"

    @property
    @in_document()
    def reference(self) -> FileSize:
        """The model that is right."""
        return FileSize(path=self.reference_path, file_bytes=self.reference_bytes)

    @property
    @in_document()
    def candidate(self) -> FileSize:
        """The model that is held against it."""
        return FileSize(path=self.candidate_path, file_bytes=self.candidate_bytes)

    @property
    @in_document()
    def outputs_are(self) -> Literal["equal", "differ", "not finite", "not compared"]:
        """Equal only where every value of every output was compared, is finite, and is the same."""
        if any(row.is_strange for row in self.outputs):
            return "not finite"
        if not self.outputs or any(row.metrics is None or row.why for row in self.outputs):
            return "not compared"
        worst = min(row.metrics.sqnr_db for row in self.outputs if row.metrics is not None)
        return "equal" if worst == math.inf else "differ"

    @property
    @in_document("worst")
    def worst_indices(self) -> tuple[int, ...]:
        """The tensors where most error is born, the worst first."""
        return tuple(row.index for row in self.worst())

    def worst(self, count: int = 10) -> tuple[TensorDrift, ...]:
        """The layers where most error is born, the worst first."""
        ranked = [row for row in self.tensors if row.born_here is not None and row.blame > 0]
        return tuple(sorted(ranked, key=lambda row: -row.blame)[:count])


def _not_finite(unusual: list[OutputDrift], outputs: int) -> str:
    is_all = all(row.metrics is None or not row.metrics.num_elements for row in unusual)
    one, more = ("is", "are") if is_all else ("has values that are", "have values that are")
    return f"{_which(len(unusual), outputs)} {one if len(unusual) == 1 else more} not finite"


def _which(count: int, outputs: int) -> str:
    if count == outputs:
        return "the output" if outputs == 1 else "the outputs"
    return f"{count} of {plural(outputs, 'output')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRange:
    """What the samples held for an input, and what the candidate's input can hold, if it is quantized.

    `held_by` is the tensor that holds it: the input, or what the QUANTIZE behind it gives.
    """

    name: str
    low: float
    high: float
    can_hold: tuple[float, float] | None
    held_by: int | None = field(default=None, metadata=NOT_WRITTEN)
