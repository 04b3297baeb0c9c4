"""Which tensors of two models mean the same: by name, by graph structure, and from the outputs backwards.

    names ──► operators of the same type that write tensors of the same name
    structure ──► operators of the same type whose inputs are paired already, front to back
    outputs ──► the same from the models' outputs, back to front

Quantizing and dequantizing in between does not count: what they give is paired with what they take.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from outlive.model import Operator
from outlive.quant.drift import Unpaired
from outlive.quant.tensor_graph import CONVERSIONS, TensorGraph

_ALONE = "no operator of its kind has its name, its inputs or its place"
_SUFFIXES = ("_int8", "_quantized", "_dequant", "_dequantize", "_requantized", ":0")


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPair:
    """A tensor of the candidate and the one of the reference it stands for; the operators that write them.

    `reference_op` is None where only the names say that they belong together. `is_conversion`: the
    candidate's tensor is its partner written in another way.
    """

    candidate: int
    reference: int
    candidate_op: int | None = None
    reference_op: int | None = None
    by: str = "name"
    is_conversion: bool = False


class _Pairing:
    """What is paired so far: ours (the candidate's) with theirs (the reference's)."""

    def __init__(self, reference: TensorGraph, candidate: TensorGraph) -> None:
        self.theirs, self.ours = reference, candidate
        self.steps: dict[int, tuple[int, str]] = {}
        self.taken: set[int] = set()
        self.tensors = dict(_inputs(reference, candidate))

    def join(self, ours: Operator, theirs: Operator, by: str) -> bool:
        """Pair two operators, if they are free and look alike."""
        if ours.index in self.steps or theirs.index in self.taken or not self._alike(ours, theirs):
            return False
        self.steps[ours.index] = (theirs.index, by)
        self.taken.add(theirs.index)
        for mine, other in zip(ours.outputs, theirs.outputs, strict=True):
            self.tensors.setdefault(mine, other)
        return True

    def _alike(self, ours: Operator, theirs: Operator) -> bool:
        if ours.name != theirs.name or len(ours.outputs) != len(theirs.outputs):
            return False
        made = [self.ours.tensors[index] for index in ours.outputs]
        wanted = [self.theirs.tensors[index] for index in theirs.outputs]
        pairs = zip(made, wanted, strict=True)
        return all(mine.is_dynamic or other.is_dynamic or mine.shape == other.shape for mine, other in pairs)

    def by_name(self) -> None:
        """Operators of the same type that write tensors of the same name."""
        theirs = _written(self.theirs)
        for name, step in _written(self.ours).items():
            if name and name in theirs:
                self.join(step, theirs[name], "name")

    def by_structure(self) -> None:
        """Front to back: the same type of operator on inputs that are paired."""
        waiting: dict[tuple[str, tuple[int | None, ...]], list[Operator]] = defaultdict(list)
        for step in self.theirs.computing():
            waiting[step.name, self.theirs.activations(step)].append(step)
        for step in self.ours.computing():
            inputs = self.ours.activations(step)
            unpaired = any(index is not None and index not in self.tensors for index in inputs)
            if step.index in self.steps or unpaired:
                continue
            roots = self.theirs.roots
            theirs = tuple(None if index is None else roots[self.tensors[index]] for index in inputs)
            for other in waiting.get((step.name, theirs), ()):
                if self.join(step, other, "structure"):
                    break

    def from_outputs(self) -> None:
        """Back to front, from the outputs and from every pair found so far."""
        ours, theirs = self.ours, self.theirs
        ends = ours.subgraph.output_indices, theirs.subgraph.output_indices
        waiting: list[tuple[int, int]] = []
        if len(ends[0]) == len(ends[1]):
            waiting = [(ours.roots[mine], theirs.roots[other]) for mine, other in zip(*ends, strict=True)]
        for index, (other, _) in self.steps.items():
            waiting += self._arguments(ours.operators[index], theirs.operators[other])
        while waiting:
            mine, other = waiting.pop()
            if mine not in ours.producers or other not in theirs.producers:
                continue
            step, partner = ours.operators[ours.producers[mine]], theirs.operators[theirs.producers[other]]
            if self.join(step, partner, "structure"):
                waiting += self._arguments(step, partner)

    def _arguments(self, ours: Operator, theirs: Operator) -> list[tuple[int, int]]:
        pairs = zip(self.ours.activations(ours), self.theirs.activations(theirs), strict=False)
        return [(mine, other) for mine, other in pairs if mine is not None and other is not None]

    def lone_names(self) -> None:
        """Tensors of one name that different operators write: compared, but no operator is alone to blame."""
        taken = set(self.tensors.values())
        made = ((step, out) for step in self.theirs.computing() for out in step.outputs)
        names = {_bare(self.theirs.tensors[out].name): out for _, out in made}
        for out in (out for step in self.ours.computing() for out in step.outputs):
            other = names.get(_bare(self.ours.tensors[out].name))
            if out in self.tensors or other is None or other in taken:
                continue
            if self.ours.tensors[out].shape == self.theirs.tensors[other].shape:
                self.tensors[out] = other
                taken.add(other)

    def pairs(self) -> Iterator[TensorPair]:
        """All pairs, in the order of the candidate's operators."""
        for index in self.ours.subgraph.input_indices:
            if index in self.tensors:
                yield TensorPair(candidate=index, reference=self.tensors[index])
        for step in self.ours.operators:
            converts = step.type in CONVERSIONS and len(step.outputs) == 1
            other, by = self.steps.get(step.index, (None, "name"))
            for out in step.outputs:
                partner = self.tensors.get(self.ours.roots[out])
                if partner is not None and out not in self.ours.constants:
                    yield TensorPair(
                        candidate=out,
                        reference=partner,
                        candidate_op=step.index,
                        reference_op=None if converts else other,
                        by=by,
                        is_conversion=converts,
                    )


def pair_models(
    reference: TensorGraph, candidate: TensorGraph
) -> tuple[tuple[TensorPair, ...], tuple[Unpaired, ...]]:
    """The pairs in the order of the candidate's operators, and what has no partner."""
    pairing = _Pairing(reference, candidate)
    pairing.by_name()
    pairing.by_structure()
    pairing.from_outputs()
    pairing.by_structure()
    pairing.lone_names()
    pairs = tuple(pairing.pairs())
    unpaired = [
        *_unpaired("candidate", candidate, {pair.candidate for pair in pairs}),
        *_unpaired("reference", reference, {pair.reference for pair in pairs}),
    ]
    return pairs, tuple(unpaired)


def _inputs(reference: TensorGraph, candidate: TensorGraph) -> Iterator[tuple[int, int]]:
    """The candidate's inputs with the reference's: by name where every name is found, else by order."""
    theirs, ours = reference.subgraph.input_indices, candidate.subgraph.input_indices
    names = {_bare(reference.tensors[index].name): index for index in theirs}
    found = [names.get(_bare(candidate.tensors[index].name)) for index in ours]
    if None not in found and len(set(found)) == len(ours):
        yield from ((mine, index) for mine, index in zip(ours, found, strict=True) if index is not None)
    elif len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)


def _bare(name: str) -> str:
    """A name without what converters put around it."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name.removeprefix("serving_default_")


def _written(graph: TensorGraph) -> dict[str, Operator]:
    """Operators by the (bare) name of their first output, where the name is the only one of its kind."""
    steps = [step for step in graph.computing() if step.outputs]
    names = [_bare(graph.tensors[step.outputs[0]].name) for step in steps]
    counts = Counter(names)
    return {name: step for name, step in zip(names, steps, strict=True) if counts[name] == 1}


def _unpaired(side: str, graph: TensorGraph, paired: set[int]) -> Iterator[Unpaired]:
    for step in graph.computing():
        for out in step.outputs:
            if out not in paired:
                name = graph.tensors[out].name
                yield Unpaired(name=name, index=out, model=side, op_type=step.name, reason=_ALONE)
