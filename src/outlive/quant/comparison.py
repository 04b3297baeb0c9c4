"""Holds a candidate against its reference, sample by sample, and adds up how far they are apart.

    sample ─┬─► reference ──────────────┬─► accumulated
            └─► candidate ─┬────────────┘
                           └─► each operator alone ─► born here

While a sample is added up, the next one runs already: memory is that of two samples of one turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.interpreter.affine import Affine, dequantize
from outlive.model import Operator, Tensor
from outlive.quant.capture import Capture, Values, with_outputs
from outlive.quant.comparison_plan import (
    CompareTask,
    ComparisonPlan,
    PairStatistics,
    SamplePass,
    divide_by_default,
    divide_passes,
)
from outlive.quant.drift import Drift, InputRange, OutputDrift, PassSummary, TensorDrift, WeightStatistics
from outlive.quant.error_statistics import PIECE, CandidateValues, ErrorStatistics
from outlive.quant.isolated_ops import IsolatedOp, IsolatedRuns
from outlive.quant.pairing import TensorPair
from outlive.quant.samples import Feed, Samples, convert_sample
from outlive.quant.tensor_graph import TensorGraph, affine, grid, has_free_scale
from outlive.quant.weight_error import measure_weights

Running = tuple[Future[Values], Future[Values]]  # the reference and the candidate


def compare_models(task: CompareTask, samples: Samples) -> Drift:
    """The drift by the kernels asked for; by the other ones, with a note, if those refuse or die."""
    try:
        return ModelComparison(task).run(samples)
    except RunError as error:
        other = "builtin" if task.accelerator == "cpu" else "cpu"
        try:
            drift = ModelComparison(replace(task, accelerator=other)).run(samples)
        except RunError:
            raise error from None
        note = f"run with accelerator {other}: with {task.accelerator}, {error.finding.headline}"
        return replace(drift, notes=(*drift.notes, note))


class ModelComparison:
    """Two models side by side, and the turns in which they are looked at."""

    def __init__(self, task: CompareTask) -> None:
        """Line the models up; nothing is run yet."""
        self.task, self.plan = task, ComparisonPlan(task)
        self.reference, self.candidate = self.plan.reference, self.plan.candidate
        self.rows, self.outputs = self.plan.rows, self.plan.outputs
        size_of = self.plan.turn_bytes
        if task.budget_bytes is None:
            self.turns, self.budget_bytes = divide_by_default(self.rows, size_of)
        else:
            self.turns, self.budget_bytes = (
                divide_passes(self.rows, size_of, task.budget_bytes),
                task.budget_bytes,
            )
        self._goodness: dict[int, float] = {}

    def run(self, samples: Samples) -> Drift:
        """Go through the samples, as often as there are turns."""
        for number, turn in enumerate(self.turns, 1):
            self._run_turn(turn, samples, number)
        return self._drift(samples)

    def _run_turn(self, turn: SamplePass[PairStatistics], samples: Samples, number: int) -> None:
        first = number == 1
        ours = {row.pair.candidate for row in turn.rows} | {one.candidate for one in self.outputs if first}
        theirs = {row.pair.reference for row in turn.rows} | {one.reference for one in self.outputs if first}
        isolated = [row.isolated for row in turn.rows if row.isolated is not None]
        fed = {index for one in isolated for index in one.feeds if index is not None}
        fed |= {self.plan.before(row) for row in turn.rows if row.pair.is_conversion}
        with ExitStack() as stack:
            reference = self._capture(stack, self.reference, theirs, self.task.accelerator)
            other = self.task.candidate_accelerator or self.task.accelerator
            candidate = self._capture(stack, self.candidate, ours | fed, other)
            # Who watches may keep what he sees.
            watched = self.task.watch is not None
            isolation = IsolatedRuns(
                self.reference, _once(isolated), self.task.accelerator, self.task.judge, copies=watched
            )
            stack.callback(isolation.close)
            for sample, (wanted, found) in enumerate(_ahead(self, samples, reference, candidate), 1):
                self._add(turn, isolation, wanted, found, first)
                self.task.tell(number, len(self.turns), sample)
            for row in turn.rows:
                if row.isolated is not None and row.isolated.op in isolation.refused:
                    row.alone = isolation.refused[row.isolated.op]

    def _capture(self, stack: ExitStack, graph: TensorGraph, wanted: set[int], accelerator: str) -> Capture:
        fed = set(graph.subgraph.input_indices)
        numeric = {index for index in wanted if graph.is_numeric(index) and index not in graph.constants}
        content = with_outputs(graph.model, sorted(numeric - fed))
        capture = Capture(content, sorted(numeric), accelerator, self.task.judge)
        stack.callback(capture.close)
        return capture

    def start(self, reference: Capture, candidate: Capture, feed: Feed) -> Running:
        """Set both models going on a sample."""
        theirs = self.reference.subgraph.inputs
        partners = [self._partner(place) for place in range(len(theirs))]
        given = {one.index: convert_sample(value, one, one) for one, value in zip(theirs, feed, strict=True)}
        same = {
            ours.index: convert_sample(value, tensor, ours)
            for tensor, ours, value in zip(theirs, partners, feed, strict=True)
        }
        return reference.run(given), candidate.run(same)

    def _partner(self, place: int) -> Tensor:
        """The candidate's input for one of the reference's."""
        theirs, ours = self.reference.subgraph.inputs, self.candidate.subgraph.inputs
        if len(ours) != len(theirs):
            raise ValueError(f"the reference has {len(theirs)} inputs and the candidate {len(ours)}")
        named = [tensor for tensor in ours if tensor.name == theirs[place].name]
        every = {tensor.name for tensor in ours} == {tensor.name for tensor in theirs}
        return named[0] if every and len(named) == 1 else ours[place]

    def _add(
        self,
        turn: SamplePass[PairStatistics],
        isolation: IsolatedRuns,
        wanted: Values,
        found: Values,
        first: bool,
    ) -> None:
        reals = {index: self._real(self.candidate, index, value) for index, value in found.items()}
        truths = {index: self._real(self.reference, index, value) for index, value in wanted.items()}
        started = isolation.start(reals)

        owns: dict[int, CandidateValues] = {}

        def own(row: PairStatistics) -> CandidateValues:
            index = row.pair.candidate
            if index not in owns:
                owns[index] = CandidateValues(
                    reals[index], found[index] if row.born.grid is not None else None
                )
            return owns[index]

        def accumulate(row: PairStatistics) -> None:
            _add_to(row.accumulated, truths[row.pair.reference], own(row))
            if row.pair.candidate_op is None:
                _add_to(row.born, truths[row.pair.reference], own(row))
            elif row.pair.is_conversion:
                _add_to(row.born, reals[self.plan.before(row)], own(row))

        for row in turn.rows:
            accumulate(row)
        for one in self.outputs if first else ():
            one.add(truths[one.reference], reals[one.candidate], found[one.candidate])
        alone = isolation.finish(started, reals)

        def hold_against(row: PairStatistics) -> None:
            value = alone.get(row.pair.reference) if row.isolated is not None else None
            if value is not None:
                local = self._real(self.reference, row.pair.reference, value)
                _add_to(row.born, local, own(row))
                if self.task.watch is not None:
                    self.task.watch(row.pair, local, reals[row.pair.candidate], found[row.pair.candidate])

        for row in turn.rows:
            hold_against(row)

    def _real(self, graph: TensorGraph, index: int, value: NDArray[Any]) -> NDArray[Any]:
        if value.dtype.kind == "f":
            return value
        parameters = affine(graph.tensors[index])
        if value.dtype.itemsize > 2 or len(parameters.scales) != 1:
            return dequantize(parameters, value)
        return _few_bits(parameters, value)

    def _drift(self, samples: Samples) -> Drift:
        inputs = self.candidate.subgraph.inputs
        ranges = []
        for seen, tensor in zip(samples.seen, inputs, strict=False):
            holder = self._holder(tensor)
            found = None if holder is None else grid(holder)
            span = None if found is None else (found.low, found.high)
            held_by = None if holder is None else holder.index
            ranges.append(
                InputRange(name=tensor.name, low=seen.low, high=seen.high, can_hold=span, held_by=held_by)
            )
        known = ((row.pair.candidate, row.accumulated.metrics()) for row in self.rows)
        self._goodness = {index: found.sqnr_db for index, found in known if found is not None}
        largest = max((turn.size_bytes for turn in self.turns), default=0)
        return Drift(
            tensors=tuple(self._told(row) for row in self.rows),
            outputs=self._judged_outputs(),
            samples=samples.count,
            unpaired=self.plan.unpaired,
            turns=PassSummary(count=len(self.turns), budget_bytes=self.budget_bytes, largest_bytes=largest),
            reference_bytes=self.task.reference.file_bytes,
            candidate_bytes=self.task.candidate.file_bytes,
            reference_path=self.task.reference.path,
            candidate_path=self.task.candidate.path,
            source=self.task.candidate,
            input_ranges=tuple(ranges),
            notes=() if any(row.pair.reference_op is not None for row in self.rows) else self._strangers(),
        )

    def _judged_outputs(self) -> tuple[OutputDrift, ...]:
        """All outputs of the candidate in their order, with the reason where there is nothing to say."""
        found = [one.drift(self.candidate.tensors, self.reference.tensors) for one in self.outputs]
        every = {one.index: one for one in (*found, *self.plan.left_out)}
        return tuple(every[index] for index in dict.fromkeys(self.candidate.subgraph.output_indices))

    def _strangers(self) -> tuple[str, ...]:
        """What is to be said where no operator has a partner, and any was wanted."""
        if self.task.layers is not None or not self.candidate.computing():
            return ()
        return ("no operator of one model has a partner in the other: they seem to compute different things",)

    def _holder(self, tensor: Tensor) -> Tensor | None:
        """The quantized tensor an input is held in: itself, or that of the QUANTIZE that alone reads it."""
        if grid(tensor) is not None:
            return tensor
        readers = [step for step in self.candidate.operators if tensor.index in step.inputs]
        if len(readers) == 1 and readers[0].type == "QUANTIZE":
            found = self.candidate.tensors[readers[0].outputs[0]]
            return found if grid(found) is not None else None
        return None

    def _worst_input(self, step: Operator) -> float | None:
        """How good the worst of an operator's inputs is, of those that are looked at."""
        found = [self._goodness[index] for index in step.inputs if index in self._goodness]
        return min(found, default=None)

    def _worst_use(self, tensor: int) -> tuple[float | None, int | None]:
        """How good the worst is that operators make of a tensor, and which one does."""
        found = [
            (self._goodness[out], step.index)
            for step in self.candidate.users(tensor)
            for out in step.outputs
            if out in self._goodness
        ]
        return min(found, default=(None, None))

    def _weights(self, pair: TensorPair, step: Operator | None) -> WeightStatistics | None:
        if step is None or pair.reference_op is None or pair.is_conversion:
            return None
        return measure_weights(
            self.reference, self.candidate, self.reference.operators[pair.reference_op], step
        )

    def _told(self, row: PairStatistics) -> TensorDrift:
        pair, ours = row.pair, self.candidate
        tensor, partner = ours.tensors[pair.candidate], self.reference.tensors[pair.reference]
        step = None if pair.candidate_op is None else ours.operators[pair.candidate_op]
        found = row.accumulated.grid
        used, by = self._worst_use(pair.candidate)
        return TensorDrift(
            name=tensor.name,
            index=pair.candidate,
            op=pair.candidate_op,
            op_type="INPUT" if step is None else step.name,
            op_name=tensor.name,
            reference_name=partner.name,
            reference_index=pair.reference,
            dtype=tensor.dtype,
            shape=tensor.shape,
            scale=None if found is None else found.scale,
            zero_point=None if found is None else found.zero_point,
            metrics=row.accumulated.metrics(),
            born_here=row.born.metrics(),
            alone=row.alone,
            paired_by=pair.by,
            per_sample=row.born.per_sample(),
            input_sqnr_db=None if step is None else self._worst_input(step),
            has_free_scale=step is not None and has_free_scale(step),
            weights=self._weights(pair, step),
            used_sqnr_db=used,
            used_by=by,
            reference_op=pair.reference_op,
        )


def _once(isolated: Sequence[IsolatedOp]) -> Iterator[IsolatedOp]:
    """Operators with several outputs stand in several rows."""
    seen: set[int] = set()
    for one in isolated:
        if one.op not in seen:
            seen.add(one.op)
            yield one


def _ahead(
    comparison: ModelComparison, samples: Samples, reference: Capture, candidate: Capture
) -> Iterator[tuple[Values, Values]]:
    """What both models make of each sample; the next one runs while this one is looked at."""
    waiting: Running | None = None
    for feed in samples:
        started = comparison.start(reference, candidate, feed)
        if waiting is not None:
            yield waiting[0].result(), waiting[1].result()
        waiting = started
    if waiting is not None:
        yield waiting[0].result(), waiting[1].result()


def _add_to(tally: ErrorStatistics, wanted: NDArray[Any], own: CandidateValues) -> None:
    """Add one sample; shapes that a run changed on one side only are not compared."""
    if wanted.size == own.real.size:
        tally.hold(np.asarray(wanted), own)


def _few_bits(parameters: Affine, value: NDArray[Any]) -> NDArray[Any]:
    """Integers of 8 or 16 bits as float32: their differences are exact in it, and products rounded once."""
    zero = np.float32(parameters.zero_points[0] if parameters.zero_points else 0)
    scale = np.float32(parameters.scales[0])
    real = np.empty(value.shape, np.float32)
    given, flat = value.reshape(-1), real.reshape(-1)
    for start in range(0, flat.size, PIECE):
        part = flat[start : start + PIECE]
        part[...] = given[start : start + PIECE]
        if zero:
            np.subtract(part, zero, out=part)
        np.multiply(part, scale, out=part)
    return real
