"""What a comparison looks at: tensor pairs, operators that can run alone, and passes that fit the memory.

The memory counts values: those of the caller and those in memory shared with workers, at their peak. The
models themselves and the workers' own arenas are not counted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.quant.capture import IsolatedOp
from outlive.quant.drift import OutputDrift
from outlive.quant.error_statistics import ErrorStatistics, OutputStatistics, UserMetric
from outlive.quant.tensor_graph import TensorGraph, TensorPair, affine, grid, pair_models
from outlive.units import format_bytes, plural

USUAL_BYTES = 512_000_000


class BudgetTooSmall(ValueError):
    """The memory granted does not hold the values of a single operator; `least_bytes` would."""

    def __init__(self, budget_bytes: int, least_bytes: int) -> None:
        """Say what was granted and what is needed."""
        self.budget_bytes, self.least_bytes = budget_bytes, least_bytes
        # Rounded up, so that the amount is enough.
        least = f"{-(-least_bytes // 1000)}KB" if least_bytes < 10**7 else f"{-(-least_bytes // 10**6)}MB"
        super().__init__(
            f"the values of a single operator take {format_bytes(least_bytes)}, and "
            f"{format_bytes(budget_bytes)} are allowed: memory {least} is the least that works"
        )


# One sample of one layer: the pair, what it should be, what it is, and the integers that stand for it.
Watch = Callable[[TensorPair, NDArray[Any], NDArray[Any], NDArray[Any]], None]
Tell = Callable[[int, int, int], None]  # the pass, of how many, and the samples gone through in it


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
    """A pair with its statistics; `alone` says why its operator is not run by itself."""

    pair: TensorPair
    accumulated: ErrorStatistics
    born: ErrorStatistics
    isolated: IsolatedOp | None = None
    alone: str = ""


@dataclass(slots=True)
class SamplePass:
    """Pairs that are compared in one pass over the samples; the first pass compares the outputs too."""

    rows: list[PairStatistics]
    size_bytes: int = 0
    outputs: list[OutputStatistics] = field(default_factory=list)


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
        self.passes, self.budget_bytes = self._divided()

    def _divided(self) -> tuple[list[SamplePass], int]:
        """The passes, and the budget that they are made for."""
        budget_bytes = self.task.budget_bytes
        if budget_bytes is not None:
            return self._divide(budget_bytes), budget_bytes
        try:
            return self._divide(USUAL_BYTES), USUAL_BYTES
        except BudgetTooSmall as error:
            return self._divide(error.least_bytes), error.least_bytes

    def _divide(self, budget_bytes: int) -> list[SamplePass]:
        """The rows in as few passes as fit the budget; `BudgetTooSmall` if a single row does not fit."""
        whole_bytes = self._pass_bytes(self.rows, self.outputs)
        if whole_bytes <= budget_bytes:
            return [SamplePass(self.rows, whole_bytes, self.outputs)]
        passes = [SamplePass([], self._pass_bytes((), self.outputs), self.outputs)]
        for row in self.rows:
            last = passes[-1]
            size_bytes = self._pass_bytes([*last.rows, row], last.outputs)
            if size_bytes > budget_bytes and (last.rows or len(passes) == 1):
                passes.append(SamplePass([row], self._pass_bytes([row], ())))
            else:
                last.rows.append(row)
                last.size_bytes = size_bytes
        least_bytes = max(one.size_bytes for one in passes)
        if least_bytes > budget_bytes:
            raise BudgetTooSmall(budget_bytes, least_bytes)
        return passes

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
        accumulated, born = (ErrorStatistics(grid=found, levels=levels) for _ in range(2))
        return PairStatistics(pair, accumulated, born, *self._isolated(pair))

    def _isolated(self, pair: TensorPair) -> tuple[IsolatedOp | None, str]:
        """The reference's operator with what it is to be fed; or why it cannot be run by itself."""
        if pair.is_conversion or pair.candidate_op is None:
            return None, ""  # what a conversion changes is seen without running it
        if not self.task.born_here:
            return None, "not asked for"
        if pair.reference_op is None:
            return None, "the reference uses other operators"
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

    def _pass_bytes(self, rows: Sequence[PairStatistics], outputs: Sequence[OutputStatistics]) -> int:
        """What looking at these pairs takes at most: values of two samples here, and shared memory.

        Of a tensor of the candidate the values are there three times (of this sample, of the next one, in
        shared memory) and once as float32; of the reference's three times; of an operator that is run alone
        its output twice, and in shared memory its inputs. A third more for what the memory's manager keeps.
        """
        theirs, ours = self.captured(rows, outputs)
        values = sum(3 * _bytes(self.candidate, index) + _real_bytes(self.candidate, index) for index in ours)
        values += sum(3 * _bytes(self.reference, index) for index in theirs)
        for one in isolated_ops(rows):
            step = self.reference.operators[one.op]
            fed = [index for index, source in zip(step.inputs, one.feeds, strict=False) if source is not None]
            values += sum(2 * _bytes(self.reference, index) for index in step.outputs)
            values += sum(_bytes(self.reference, index) for index in fed)
        return values * 4 // 3

    def captured(
        self, rows: Sequence[PairStatistics], outputs: Sequence[OutputStatistics]
    ) -> tuple[set[int], set[int]]:
        """The tensors of the reference and of the candidate that are needed to compare these."""
        theirs = {row.pair.reference for row in rows} | {one.reference for one in outputs}
        ours = {row.pair.candidate for row in rows} | {one.candidate for one in outputs}
        ours |= {index for one in isolated_ops(rows) for index in one.feeds if index is not None}
        return theirs, ours | {self.before(row) for row in rows if row.pair.is_conversion}

    def before(self, row: PairStatistics) -> int:
        """What a conversion of the candidate takes."""
        assert row.pair.candidate_op is not None
        return self.candidate.operators[row.pair.candidate_op].inputs[0]

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
            tensor = self.candidate.tensors[index]
            if partner is None or why:
                unknown: dict[str, Any] = {"reference_name": "", "metrics": None, "argmax_agreement": None}
                self.left_out.append(OutputDrift(name=tensor.name, index=index, why=why, **unknown))
            else:
                found.append(OutputStatistics(index, partner, grid(tensor), self.task.metrics))
        return found

    def _why_not(self, ours: int, theirs: int | None) -> str:
        """Why an output cannot be held against the reference's; empty if it can."""
        if theirs is None:
            counts = [len(graph.subgraph.output_indices) for graph in (self.reference, self.candidate)]
            counted = f"the reference has {plural(counts[0], 'output')}, the candidate {counts[1]}"
            return f"{counted}, and none is its partner"
        if ours in self.candidate.constants or theirs in self.reference.constants:
            return "a constant"
        numeric = self.candidate.is_numeric(ours) and self.reference.is_numeric(theirs)
        return "" if numeric else "not numeric"


def isolated_ops(rows: Sequence[PairStatistics]) -> list[IsolatedOp]:
    """The operators that run alone, once each: one with several outputs is in several rows."""
    return list({row.isolated.op: row.isolated for row in rows if row.isolated is not None}.values())


def _bytes(graph: TensorGraph, index: int) -> int:
    return graph.tensors[index].size_bytes or 0


def _real_bytes(graph: TensorGraph, index: int) -> int:
    """What the values take as float32; those that are float are not written anew."""
    tensor = graph.tensors[index]
    return 0 if tensor.dtype.startswith("float") else 4 * math.prod(tensor.shape)
