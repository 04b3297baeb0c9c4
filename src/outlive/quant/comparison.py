"""Holds a candidate against its reference, sample by sample, and adds up how far they are apart.

    sample ─┬─► reference ──────────────┬─► accumulated
            └─► candidate ─┬────────────┘
                           └─► each operator alone ─► born here

While a sample is added up, the next one runs already: memory is that of two samples of one turn.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlive.errors import RunError
from outlive.interpreter.affine import dequantize
from outlive.model import Operator, Tensor
from outlive.quant.capture import Capture, IsolatedRuns, Values, with_outputs
from outlive.quant.comparison_plan import (
    CompareTask,
    ComparisonPlan,
    PairStatistics,
    SamplePass,
    isolated_ops,
)
from outlive.quant.drift import Drift, InputRange, OutputDrift, PassSummary, TensorDrift, WeightStatistics
from outlive.quant.error_statistics import BLOCK, CandidateValues, ErrorStatistics
from outlive.quant.samples import Feed, Samples, convert_sample
from outlive.quant.tensor_graph import TensorGraph, TensorPair, affine, grid, has_free_scale
from outlive.quant.weight_error import measure_weights
from outlive.records import copy_fields
from outlive.units import Count

_STRANGERS = (
    "no operator of one model matches an operator of the other: the models seem to compute different things"
)
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
    """Runs two models side by side, pass by pass."""

    def __init__(self, task: CompareTask) -> None:
        """Pair the models' tensors; nothing is run yet."""
        self.task, self.plan = task, ComparisonPlan(task)
        self.reference, self.candidate = self.plan.reference, self.plan.candidate
        self.rows = self.plan.rows
        self._sqnr_by_tensor: dict[int, float] = {}

    def run(self, samples: Samples) -> Drift:
        """Go through the samples, as often as there are passes."""
        for number, one in enumerate(self.plan.passes, 1):
            self._run_pass(one, samples, number)
        return self._result(samples)

    def _run_pass(self, one: SamplePass, samples: Samples, number: int) -> None:
        task = self.task
        theirs, ours = self.plan.captured(one.rows, one.outputs)
        with ExitStack() as stack:
            reference = self._capture(stack, self.reference, theirs, task.accelerator)
            candidate = self._capture(
                stack, self.candidate, ours, task.candidate_accelerator or task.accelerator
            )
            # A watcher may keep what it sees.
            copies = task.watch is not None
            isolation = IsolatedRuns(
                self.reference, isolated_ops(one.rows), task.accelerator, task.judge, copies=copies
            )
            stack.callback(isolation.close)
            for sample, (wanted, found) in enumerate(_ahead(self, samples, reference, candidate), 1):
                self._add(one, isolation, wanted, found)
                task.tell(number, len(self.plan.passes), Count(sample, samples.total))
            for row in one.rows:
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

    def _add(self, one: SamplePass, isolation: IsolatedRuns, wanted: Values, found: Values) -> None:
        reals = {index: _real(self.candidate, index, value) for index, value in found.items()}
        truths = {index: _real(self.reference, index, value) for index, value in wanted.items()}
        started = isolation.start(reals)
        values: dict[int, CandidateValues] = {}
        for row in one.rows:
            index, truth = row.pair.candidate, truths[row.pair.reference]
            raw = found[index] if row.born.grid is not None else None
            values.setdefault(index, CandidateValues(reals[index], raw))
            _add_to(row.accumulated, truth, values[index])
            if row.pair.candidate_op is None:
                _add_to(row.born, truth, values[index])
            elif row.pair.is_conversion:
                _add_to(row.born, reals[self.plan.before(row)], values[index])
        for output in one.outputs:
            output.add(truths[output.reference], reals[output.candidate], found[output.candidate])
        alone = isolation.finish(started, reals)
        for row in one.rows:
            index, value = row.pair.candidate, alone.get(row.pair.reference)
            if row.isolated is not None and value is not None:
                local = _real(self.reference, row.pair.reference, value)
                _add_to(row.born, local, values[index])
                if self.task.watch is not None:
                    self.task.watch(row.pair, local, reals[index], found[index])

    def _result(self, samples: Samples) -> Drift:
        inputs = self.candidate.subgraph.inputs
        ranges = []
        for seen, tensor in zip(samples.seen, inputs, strict=False):
            holder = self._quantized_input(tensor)
            found = None if holder is None else grid(holder)
            span = None if found is None else (found.low, found.high)
            held_by = None if holder is None else holder.index
            ranges.append(
                InputRange(name=tensor.name, low=seen.low, high=seen.high, can_hold=span, held_by=held_by)
            )
        known = ((row.pair.candidate, row.accumulated.metrics()) for row in self.rows)
        self._sqnr_by_tensor = {index: found.sqnr_db for index, found in known if found is not None}
        plan = self.plan
        paired = any(row.pair.reference_op is not None for row in self.rows)
        unrelated = not paired and self.task.layers is None and bool(self.candidate.computing())
        largest = max((one.size_bytes for one in plan.passes), default=0)
        return Drift(
            tensors=tuple(self._tensor_drift(row) for row in self.rows),
            outputs=self._judged_outputs(),
            samples=samples.count,
            unpaired=self.plan.unpaired,
            turns=PassSummary(count=len(plan.passes), budget_bytes=plan.budget_bytes, largest_bytes=largest),
            reference_bytes=self.task.reference.file_bytes,
            candidate_bytes=self.task.candidate.file_bytes,
            reference_path=self.task.reference.path,
            candidate_path=self.task.candidate.path,
            source=self.task.candidate,
            input_ranges=tuple(ranges),
            notes=(_STRANGERS,) if unrelated else (),
        )

    def _judged_outputs(self) -> tuple[OutputDrift, ...]:
        """All outputs of the candidate in their order, with the reason where there is nothing to say."""
        found = [one.drift(self.candidate.tensors, self.reference.tensors) for one in self.plan.outputs]
        every = {one.index: one for one in (*found, *self.plan.left_out)}
        return tuple(every[index] for index in dict.fromkeys(self.candidate.subgraph.output_indices))

    def _quantized_input(self, tensor: Tensor) -> Tensor | None:
        """The quantized tensor an input is held in: itself, or that of the QUANTIZE that alone reads it."""
        if grid(tensor) is not None:
            return tensor
        readers = [step for step in self.candidate.operators if tensor.index in step.inputs]
        if len(readers) == 1 and readers[0].type == "QUANTIZE":
            found = self.candidate.tensors[readers[0].outputs[0]]
            return found if grid(found) is not None else None
        return None

    def _worst_use(self, tensor: int) -> tuple[float | None, int | None]:
        """How good the worst is that operators make of a tensor, and which one does."""
        found = [
            (self._sqnr_by_tensor[out], step.index)
            for step in self.candidate.users(tensor)
            for out in step.outputs
            if out in self._sqnr_by_tensor
        ]
        return min(found, default=(None, None))

    def _weights(self, pair: TensorPair, step: Operator | None) -> WeightStatistics | None:
        if step is None or pair.reference_op is None or pair.is_conversion:
            return None
        return measure_weights(
            self.reference, self.candidate, self.reference.operators[pair.reference_op], step
        )

    def _tensor_drift(self, row: PairStatistics) -> TensorDrift:
        pair, ours = row.pair, self.candidate
        tensor, partner = ours.tensors[pair.candidate], self.reference.tensors[pair.reference]
        step = None if pair.candidate_op is None else ours.operators[pair.candidate_op]
        found = row.accumulated.grid
        used, by = self._worst_use(pair.candidate)
        given = () if step is None else step.inputs
        inputs = [self._sqnr_by_tensor[index] for index in given if index in self._sqnr_by_tensor]
        return copy_fields(
            TensorDrift,
            tensor,
            row,
            pair,
            op=pair.candidate_op,
            op_type="INPUT" if step is None else step.name,
            reference_name=partner.name,
            reference_index=pair.reference,
            scale=None if found is None else found.scale,
            zero_point=None if found is None else found.zero_point,
            metrics=row.accumulated.metrics(),
            born_here=row.born.metrics(),
            paired_by=pair.by,
            per_sample=row.born.per_sample(),
            input_sqnr_db=min(inputs, default=None),
            has_free_scale=step is not None and has_free_scale(step),
            weights=self._weights(pair, step),
            used_sqnr_db=used,
            used_by=by,
        )


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


def _real(graph: TensorGraph, index: int, value: NDArray[Any]) -> NDArray[Any]:
    """The real numbers a value stands for.

    Integers of 8 or 16 bits become float32: their differences are exact in it, and products rounded once.
    """
    if value.dtype.kind == "f":
        return value
    parameters = affine(graph.tensors[index])
    if value.dtype.itemsize > 2 or len(parameters.scales) != 1:
        return dequantize(parameters, value)
    zero = np.float32(parameters.zero_points[0] if parameters.zero_points else 0)
    scale = np.float32(parameters.scales[0])
    real = np.empty(value.shape, np.float32)
    given, flat = value.reshape(-1), real.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        part[...] = given[start : start + BLOCK]
        if zero:
            np.subtract(part, zero, out=part)
        np.multiply(part, scale, out=part)
    return real
