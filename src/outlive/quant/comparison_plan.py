"""What a comparison looks at: tensor pairs, operators that can run alone, and passes that fit the memory.

The memory counts values: those of the caller and those in memory shared with workers, at their peak. The
models themselves and the workers' own arenas are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.quant.drift import OutputDrift
from outlive.quant.error_statistics import ErrorStatistics, OutputStatistics, UserMetric, left_out
from outlive.quant.isolated_ops import IsolatedOp
from outlive.quant.pairing import TensorPair, pair_models
from outlive.quant.tensor_graph import TensorGraph, affine, grid
from outlive.units import format_bytes, plural

Row = TypeVar("Row")
USUAL_BYTES = 512_000_000


class BudgetTooSmall(ValueError):
    """The memory granted does not hold the values of a single operator; `least_bytes` would."""

    def __init__(self, budget_bytes: int, least_bytes: int) -> None:
        """Say what was granted and what is needed."""
        self.budget_bytes, self.least_bytes = budget_bytes, least_bytes
        # Rounded up, so that what is told is enough.
        told = f"{-(-least_bytes // 1000)}KB" if least_bytes < 10**7 else f"{-(-least_bytes // 10**6)}MB"
        super().__init__(
            f"the values of a single operator take {format_bytes(least_bytes)}, and "
            f"{format_bytes(budget_bytes)} were granted: memory {told} is the least that works"
        )


@dataclass(slots=True)
class SamplePass(Generic[Row]):
    """Pairs that are looked at in one go through the samples."""

    rows: list[Row]
    size_bytes: int = 0


def divide_by_default(
    rows: Sequence[Row], size_of: Callable[[Sequence[Row], bool], int]
) -> tuple[list[SamplePass[Row]], int]:
    """The turns where nobody has said how much memory there is, and the budget that was taken."""
    try:
        return divide_passes(rows, size_of, USUAL_BYTES), USUAL_BYTES
    except BudgetTooSmall as error:
        return divide_passes(rows, size_of, error.least_bytes), error.least_bytes


def divide_passes(
    rows: Sequence[Row], size_of: Callable[[Sequence[Row], bool], int], budget_bytes: int
) -> list[SamplePass[Row]]:
    """The rows in their order, in as few turns as fit; at least one, and one row at least in each.

    `size_of` says what rows take together, and, if it is told so, the outputs with them, which the first
    turn looks at too. `BudgetTooSmall` if a single row does not fit.
    """
    whole_bytes = size_of(rows, True)
    if whole_bytes <= budget_bytes:
        return [SamplePass(rows=list(rows), size_bytes=whole_bytes)]
    turns: list[SamplePass[Row]] = [SamplePass(rows=[], size_bytes=size_of((), True))]
    for row in rows:
        last = turns[-1]
        size_bytes = size_of([*last.rows, row], len(turns) == 1)
        if size_bytes > budget_bytes and (last.rows or len(turns) == 1):
            turns.append(SamplePass(rows=[row], size_bytes=size_of([row], False)))
        else:
            last.rows.append(row)
            last.size_bytes = size_bytes
    least_bytes = max(turn.size_bytes for turn in turns)
    if least_bytes > budget_bytes:
        raise BudgetTooSmall(budget_bytes, least_bytes)
    return turns


# One sample of one layer: the pair, what it should be, what it is, and the integers that stand for it.
Watch = Callable[[TensorPair, NDArray[Any], NDArray[Any], NDArray[Any]], None]
Tell = Callable[[int, int, int], None]  # the turn, of how many, and the samples gone through in it


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareTask:
    """What is to be compared, and how."""

    reference: Model
    candidate: Model
    judge: Judge
    accelerator: str = "cpu"
    candidate_accelerator: str | None = None
    # None: 512 MB, or what a single operator takes, if that is more.
    budget_bytes: int | None = None
    metrics: Mapping[str, UserMetric] = field(default_factory=dict)
    layers: Callable[[int, str, str], bool] | None = None
    born_here: bool = True
    watch: Watch | None = None
    tell: Tell = lambda turn, turns, sample: None


@dataclass(slots=True)
class PairStatistics:
    """A pair with what is added up for it."""

    pair: TensorPair
    accumulated: ErrorStatistics
    born: ErrorStatistics
    isolated: IsolatedOp | None = None
    alone: str = ""


class ComparisonPlan:
    """Two models side by side, pair by pair."""

    def __init__(self, task: CompareTask) -> None:
        """Pair the models' tensors and say what can be looked at."""
        self.task = task
        self.reference, self.candidate = TensorGraph(task.reference), TensorGraph(task.candidate)
        pairs, self.unpaired = pair_models(self.reference, self.candidate)
        self.rows = [self._row(pair) for pair in pairs if self._is_wanted(pair)]
        self.left_out: list[OutputDrift] = []
        self.outputs = self._outputs(pairs)

    def _is_wanted(self, pair: TensorPair) -> bool:
        ours, theirs = self.candidate, self.reference
        if not (ours.is_numeric(pair.candidate) and theirs.is_numeric(pair.reference)):
            return False
        if pair.candidate_op is None:
            return affine(ours.tensors[pair.candidate]).is_quantized and self.task.layers is None
        step = ours.operators[pair.candidate_op]
        wanted = self.task.layers
        return wanted is None or wanted(step.index, step.name, ours.tensors[pair.candidate].name)

    def _row(self, pair: TensorPair) -> PairStatistics:
        tensor = self.candidate.tensors[pair.candidate]
        kind = "" if pair.candidate_op is None else self.candidate.operators[pair.candidate_op].type
        found = grid(tensor, kind)
        levels = 65536 if tensor.dtype == "int16" else 256
        accumulated, born = (
            ErrorStatistics(grid=found, levels=levels),
            ErrorStatistics(grid=found, levels=levels),
        )
        row = PairStatistics(pair=pair, accumulated=accumulated, born=born)
        row.isolated, row.alone = self._lone(pair)
        return row

    def _lone(self, pair: TensorPair) -> tuple[IsolatedOp | None, str]:
        """The reference's operator with what it is to be fed; or why it cannot be run by itself."""
        if pair.is_conversion or pair.candidate_op is None:
            return None, ""  # what a conversion changes is seen without running it
        if not self.task.born_here:
            return None, "not asked for"
        if pair.reference_op is None:
            return None, "the reference computes it with other operators"
        ours = self.candidate.operators[pair.candidate_op]
        theirs = self.reference.operators[pair.reference_op]
        reason = self.candidate.why_not_alone(ours) or self.reference.why_not_alone(theirs)
        if reason:
            return None, reason
        feeds: list[int | None] = []
        for place, index in enumerate(theirs.inputs):
            if index < 0 or index in self.reference.constants:
                feeds.append(None)
                continue
            source = ours.inputs[place] if place < len(ours.inputs) else -1
            if source < 0 or source in self.candidate.constants:
                return None, "the candidate's operator takes other inputs"
            feeds.append(source)
        return IsolatedOp(op=theirs.index, feeds=tuple(feeds)), ""

    def turn_bytes(self, rows: Sequence[PairStatistics], with_outputs: bool) -> int:
        """What looking at these pairs takes at most: values of two samples here, and shared memory.

        Of a tensor of the candidate the values are there three times (of this sample, of the next one, in
        shared memory) and once as float32; of the reference's three times; of an operator that is run alone
        its output twice, and in shared memory its inputs. A third more for what the memory's manager keeps.
        """
        ours = {row.pair.candidate for row in rows} | self._sources(rows)
        theirs = {row.pair.reference for row in rows}
        if with_outputs:
            ours |= {one.candidate for one in self.outputs}
            theirs |= {one.reference for one in self.outputs}
        values = sum(3 * _bytes(self.candidate, index) + _real_bytes(self.candidate, index) for index in ours)
        values += sum(3 * _bytes(self.reference, index) for index in theirs)
        for isolated in {row.isolated.op: row.isolated for row in rows if row.isolated is not None}.values():
            made = self.reference.operators[isolated.op].outputs
            values += sum(2 * _bytes(self.reference, index) for index in made)
            values += sum(_bytes(self.reference, index) for index in self._fed(isolated))
        return values * 4 // 3

    def _sources(self, rows: Sequence[PairStatistics]) -> set[int]:
        """The candidate's tensors that operators alone are fed, or that conversions of it take."""
        found = {index for row in rows if row.isolated for index in row.isolated.feeds if index is not None}
        return found | {self.before(row) for row in rows if row.pair.is_conversion}

    def before(self, row: PairStatistics) -> int:
        """What a conversion of the candidate takes."""
        assert row.pair.candidate_op is not None
        return self.candidate.operators[row.pair.candidate_op].inputs[0]

    def _fed(self, isolated: IsolatedOp) -> list[int]:
        """The reference's tensors that an operator alone is fed."""
        inputs = self.reference.operators[isolated.op].inputs
        return [index for index, source in zip(inputs, isolated.feeds, strict=False) if source is not None]

    def _outputs(self, pairs: Sequence[TensorPair]) -> list[OutputStatistics]:
        partners = {pair.candidate: pair.reference for pair in pairs}
        theirs = self.reference.subgraph.output_indices
        ours = self.candidate.subgraph.output_indices
        found = []
        for place, index in enumerate(ours):
            partner = partners.get(index)
            if partner not in theirs:
                partner = theirs[place] if len(ours) == len(theirs) else partner
            why = self._why_not(index, partner)
            if partner is None or why:
                self.left_out.append(left_out(self.candidate.tensors[index], why))
                continue
            found.append(
                OutputStatistics(index, partner, grid(self.candidate.tensors[index]), self.task.metrics)
            )
        return found

    def _why_not(self, ours: int, theirs: int | None) -> str:
        """Why an output cannot be held against the reference's; empty if it can."""
        if theirs is None:
            counts = [len(graph.subgraph.output_indices) for graph in (self.reference, self.candidate)]
            told = f"the reference has {plural(counts[0], 'output')}, the candidate {counts[1]}"
            return f"{told}, and none is its partner"
        if self._are_computed(ours, theirs):
            return ""
        constant = ours in self.candidate.constants or theirs in self.reference.constants
        return "no run computes it: it is a constant" if constant else "it holds no numbers"

    def _are_computed(self, ours: int, theirs: int) -> bool:
        """True if both are numbers that a run gives."""
        sides = ((self.candidate, ours), (self.reference, theirs))
        return all(graph.is_numeric(index) and index not in graph.constants for graph, index in sides)


def _bytes(graph: TensorGraph, index: int) -> int:
    return graph.tensors[index].size_bytes or 0


def _real_bytes(graph: TensorGraph, index: int) -> int:
    """What the values take as float32; those that are float are not written anew."""
    tensor = graph.tensors[index]
    return 0 if tensor.dtype.startswith("float") else 4 * math.prod(tensor.shape)
