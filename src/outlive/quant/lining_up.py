"""What is compared: the pairs that can be, what each costs in memory, and which operators can run alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from outlive.interpreter.judge import Judge
from outlive.model import Model
from outlive.quant.graphs import TensorGraph, affine, grid
from outlive.quant.isolating import Lone
from outlive.quant.judging_outputs import OutputTally, UserMetric, left_out
from outlive.quant.nouns import OutputDrift
from outlive.quant.pairing import Pair, pair_models
from outlive.quant.tallying import ErrorTally
from outlive.units import plural

# One sample of one layer: the pair, what it should be, what it is, and the integers that stand for it.
Watch = Callable[[Pair, NDArray[Any], NDArray[Any], NDArray[Any]], None]
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
class PairSums:
    """A pair with what is added up for it."""

    pair: Pair
    accumulated: ErrorTally
    born: ErrorTally
    lone: Lone | None = None
    alone: str = ""


class Lineup:
    """Two models side by side, pair by pair."""

    def __init__(self, task: CompareTask) -> None:
        """Pair the models' tensors and say what can be looked at."""
        self.task = task
        self.reference, self.candidate = TensorGraph(task.reference), TensorGraph(task.candidate)
        pairs, self.unpaired = pair_models(self.reference, self.candidate)
        self.rows = [self._row(pair) for pair in pairs if self._is_wanted(pair)]
        self.left_out: list[OutputDrift] = []
        self.outputs = self._outputs(pairs)

    def _is_wanted(self, pair: Pair) -> bool:
        ours, theirs = self.candidate, self.reference
        if not (ours.is_numeric(pair.candidate) and theirs.is_numeric(pair.reference)):
            return False
        if pair.candidate_op is None:
            return affine(ours.tensors[pair.candidate]).is_quantized and self.task.layers is None
        step = ours.operators[pair.candidate_op]
        wanted = self.task.layers
        return wanted is None or wanted(step.index, step.name, ours.tensors[pair.candidate].name)

    def _row(self, pair: Pair) -> PairSums:
        tensor = self.candidate.tensors[pair.candidate]
        kind = "" if pair.candidate_op is None else self.candidate.operators[pair.candidate_op].type
        found = grid(tensor, kind)
        levels = 65536 if tensor.dtype == "int16" else 256
        accumulated, born = ErrorTally(grid=found, levels=levels), ErrorTally(grid=found, levels=levels)
        row = PairSums(pair=pair, accumulated=accumulated, born=born)
        row.lone, row.alone = self._lone(pair)
        return row

    def _lone(self, pair: Pair) -> tuple[Lone | None, str]:
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
        return Lone(op=theirs.index, feeds=tuple(feeds)), ""

    def turn_bytes(self, rows: Sequence[PairSums], with_outputs: bool) -> int:
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
        for lone in {row.lone.op: row.lone for row in rows if row.lone is not None}.values():
            made = self.reference.operators[lone.op].outputs
            values += sum(2 * _bytes(self.reference, index) for index in made)
            values += sum(_bytes(self.reference, index) for index in self._fed(lone))
        return values * 4 // 3

    def _sources(self, rows: Sequence[PairSums]) -> set[int]:
        """The candidate's tensors that operators alone are fed, or that conversions of it take."""
        found = {index for row in rows if row.lone for index in row.lone.feeds if index is not None}
        return found | {self.before(row) for row in rows if row.pair.is_conversion}

    def before(self, row: PairSums) -> int:
        """What a conversion of the candidate takes."""
        assert row.pair.candidate_op is not None
        return self.candidate.operators[row.pair.candidate_op].inputs[0]

    def _fed(self, lone: Lone) -> list[int]:
        """The reference's tensors that an operator alone is fed."""
        inputs = self.reference.operators[lone.op].inputs
        return [index for index, source in zip(inputs, lone.feeds, strict=False) if source is not None]

    def _outputs(self, pairs: Sequence[Pair]) -> list[OutputTally]:
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
            found.append(OutputTally(index, partner, grid(self.candidate.tensors[index]), self.task.metrics))
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
