"""Which tensors of two models mean the same: by name, by graph structure, and from the outputs backwards.

    names ──► operators of the same type that write tensors of the same name
    structure ──► operators of the same type whose inputs are paired already, front to back
    outputs ──► the same from the models' outputs, back to front

Quantizing and dequantizing in between does not count: what they give is paired with what they take.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
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
    candidate_op: int | None
    reference_op: int | None
    by: str
    is_conversion: bool = False


class _Pairing:
    """Operators paired so far, from both sides."""

    def __init__(self, reference: TensorGraph, candidate: TensorGraph) -> None:
        self.reference, self.candidate = reference, candidate
        self.steps: dict[int, tuple[int, str]] = {}
        self.taken: set[int] = set()
        self.tensors: dict[int, int] = {}
        for theirs, ours in _inputs(reference, candidate):
            self.tensors[ours] = theirs

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
        shapes = (
            (self.candidate.tensors[mine], self.reference.tensors[other])
            for mine, other in zip(ours.outputs, theirs.outputs, strict=True)
        )
        return all(mine.is_dynamic or other.is_dynamic or mine.shape == other.shape for mine, other in shapes)


def pair_models(
    reference: TensorGraph, candidate: TensorGraph
) -> tuple[tuple[TensorPair, ...], tuple[Unpaired, ...]]:
    """The pairs in the order of the candidate's operators, and what has no partner."""
    pairing = _Pairing(reference, candidate)
    _by_name(pairing)
    _by_structure(pairing)
    _from_outputs(pairing)
    _by_structure(pairing)
    _lone_names(pairing)
    pairs = tuple(_pairs(pairing))
    return pairs, tuple(_unpaired(pairing, pairs))


def _inputs(reference: TensorGraph, candidate: TensorGraph) -> Iterator[tuple[int, int]]:
    """Inputs by name where every name is found; by order otherwise."""
    theirs = reference.subgraph.input_indices
    ours = candidate.subgraph.input_indices
    names = {_bare(reference.tensors[index].name): index for index in theirs}
    found = [names.get(_bare(candidate.tensors[index].name)) for index in ours]
    if None not in found and len(set(found)) == len(ours):
        yield from ((index, mine) for index, mine in zip(found, ours, strict=True) if index is not None)
    elif len(ours) == len(theirs):
        yield from zip(theirs, ours, strict=True)


def _bare(name: str) -> str:
    """A name without what converters put around it."""
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name.removeprefix("serving_default_")


def _written(graph: TensorGraph, steps: Sequence[Operator]) -> dict[str, Operator]:
    """Operators by the (bare) name of their first output, where the name is the only one of its kind."""
    names = {step.index: _bare(graph.tensors[step.outputs[0]].name) for step in steps if step.outputs}
    counts = Counter(names.values())
    return {names[step.index]: step for step in steps if step.outputs and counts[names[step.index]] == 1}


def _by_name(pairing: _Pairing) -> None:
    theirs = _written(pairing.reference, pairing.reference.computing())
    for name, step in _written(pairing.candidate, pairing.candidate.computing()).items():
        if name and name in theirs:
            pairing.join(step, theirs[name], "name")


def _by_structure(pairing: _Pairing) -> None:
    """Front to back: the same type of operator on inputs that are paired."""
    waiting: dict[tuple[str, tuple[int | None, ...]], list[Operator]] = defaultdict(list)
    for step in pairing.reference.computing():
        waiting[step.name, pairing.reference.activations(step)].append(step)
    for step in pairing.candidate.computing():
        if step.index in pairing.steps:
            continue
        inputs = pairing.candidate.activations(step)
        if any(index is not None and index not in pairing.tensors for index in inputs):
            continue
        theirs = tuple(
            None if index is None else pairing.reference.roots[pairing.tensors[index]] for index in inputs
        )
        for other in waiting.get((step.name, theirs), ()):
            if pairing.join(step, other, "structure"):
                break


def _from_outputs(pairing: _Pairing) -> None:
    """Back to front, from the outputs and from every pair found so far."""
    ours, theirs = pairing.candidate, pairing.reference
    ends = list(zip(ours.subgraph.output_indices, theirs.subgraph.output_indices, strict=False))
    same = len(ours.subgraph.output_indices) == len(theirs.subgraph.output_indices)
    waiting = [(ours.roots[mine], theirs.roots[other]) for mine, other in ends] if same else []
    for index, (other, _) in list(pairing.steps.items()):
        waiting += _arguments(pairing, ours.operators[index], theirs.operators[other])
    while waiting:
        mine, other = waiting.pop()
        if mine not in ours.producers or other not in theirs.producers:
            continue
        step, partner = ours.operators[ours.producers[mine]], theirs.operators[theirs.producers[other]]
        if pairing.join(step, partner, "structure"):
            waiting += _arguments(pairing, step, partner)


def _arguments(pairing: _Pairing, ours: Operator, theirs: Operator) -> list[tuple[int, int]]:
    pairs = zip(pairing.candidate.activations(ours), pairing.reference.activations(theirs), strict=False)
    return [(mine, other) for mine, other in pairs if mine is not None and other is not None]


def _lone_names(pairing: _Pairing) -> None:
    """Tensors of one name that different operators write: compared, but no operator is alone to blame."""
    ours, theirs = pairing.candidate, pairing.reference
    taken = set(pairing.tensors.values())
    names = {_bare(theirs.tensors[out].name): out for step in theirs.computing() for out in step.outputs}
    for step in ours.computing():
        for out in step.outputs:
            other = names.get(_bare(ours.tensors[out].name))
            if out in pairing.tensors or other is None or other in taken:
                continue
            if ours.tensors[out].shape == theirs.tensors[other].shape:
                pairing.tensors[out] = other
                taken.add(other)


def _pairs(pairing: _Pairing) -> Iterator[TensorPair]:
    ours = pairing.candidate
    for index in ours.subgraph.input_indices:
        if index in pairing.tensors:
            yield TensorPair(
                candidate=index,
                reference=pairing.tensors[index],
                candidate_op=None,
                reference_op=None,
                by="name",
            )
    for step in ours.operators:
        converts = step.type in CONVERSIONS and len(step.outputs) == 1
        for out in step.outputs:
            partner = pairing.tensors.get(ours.roots[out])
            if partner is None or out in ours.constants:
                continue
            other, by = pairing.steps.get(step.index, (None, "name"))
            yield TensorPair(
                candidate=out,
                reference=partner,
                candidate_op=step.index,
                reference_op=None if converts else other,
                by=by,
                is_conversion=converts,
            )


def _unpaired(pairing: _Pairing, pairs: tuple[TensorPair, ...]) -> Iterator[Unpaired]:
    sides = (
        ("candidate", pairing.candidate, {pair.candidate for pair in pairs}),
        ("reference", pairing.reference, {pair.reference for pair in pairs}),
    )
    for side, graph, paired in sides:
        made = ((step, out) for step in graph.computing() for out in step.outputs)
        for step, out in made:
            if out not in paired:
                yield Unpaired(
                    name=graph.tensors[out].name, index=out, model=side, op_type=step.name, reason=_ALONE
                )
