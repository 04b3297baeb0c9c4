"""What is compared: the pairs that can be, what each costs in memory, and which operators can run alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from outlive.model import Model
from outlive.quant.graphs import Graph, affine, grid
from outlive.quant.isolating import Lone
from outlive.quant.judging_outputs import OutputTally, UserMetric
from outlive.quant.pairing import Pair, pair_models
from outlive.quant.tallying import Tally

# One sample of one layer: the pair, what it should be, what it is, and the integers that stand for it.
Watch = Callable[[Pair, NDArray[Any], NDArray[Any], NDArray[Any]], None]
Tell = Callable[[int, int, int], None]  # the turn, of how many, and the samples gone through in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be compared, and how."""

    reference: Model
    candidate: Model
    accelerator: str = "cpu"
    candidate_accelerator: str | None = None
    budget_bytes: int = 512 << 20
    metrics: Mapping[str, UserMetric] = field(default_factory=dict)
    layers: Callable[[int, str, str], bool] | None = None
    born_here: bool = True
    watch: Watch | None = None
    tell: Tell = lambda turn, turns, sample: None


@dataclass(slots=True)
class Row:
    """A pair with what is added up for it."""

    pair: Pair
    accumulated: Tally
    born: Tally
    lone: Lone | None = None
    alone: str = ""


class Lineup:
    """Two models side by side, pair by pair."""

    def __init__(self, task: Task) -> None:
        """Pair the models' tensors and say what can be looked at."""
        self.task = task
        self.reference, self.candidate = Graph(task.reference), Graph(task.candidate)
        pairs, self.unpaired = pair_models(self.reference, self.candidate)
        self.rows = [self._row(pair) for pair in pairs if self._is_wanted(pair)]
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

    def _row(self, pair: Pair) -> Row:
        tensor = self.candidate.tensors[pair.candidate]
        kind = "" if pair.candidate_op is None else self.candidate.operators[pair.candidate_op].type
        found = grid(tensor, kind)
        levels = 65536 if tensor.dtype == "int16" else 256
        accumulated, born = Tally(grid=found, levels=levels), Tally(grid=found, levels=levels)
        row = Row(pair=pair, accumulated=accumulated, born=born)
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

    def row_bytes(self, row: Row) -> int:
        """What looking at a pair costs at most: values of two samples here, and what lies in shared memory.

        By element: the candidate's value three times and once as float32, the reference's three times; of an
        operator that is run alone also its output twice, and its inputs as float32 twice. A third more for
        what the memory's manager keeps.
        """
        ours, theirs = self.candidate.tensors[row.pair.candidate], self.reference.tensors[row.pair.reference]
        own, other = ours.size_bytes or 0, theirs.size_bytes or 0
        values = 3 * own + max(own, other) + 3 * other
        if row.lone is not None:
            fed = [self.reference.tensors[index] for index in self._fed(row.lone)]
            values += 2 * other + 2 * sum(tensor.size_bytes or 0 for tensor in fed)
        return values * 4 // 3

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
            if partner is None or not self._are_computed(index, partner):
                continue
            found.append(OutputTally(index, partner, grid(self.candidate.tensors[index]), self.task.metrics))
        return found

    def _are_computed(self, ours: int, theirs: int) -> bool:
        """True if both are numbers that a run gives."""
        sides = ((self.candidate, ours), (self.reference, theirs))
        return all(graph.is_numeric(index) and index not in graph.constants for graph, index in sides)
