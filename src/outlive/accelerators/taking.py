"""Which operators a delegate took, from the nodes that the runtime put in their place.

    the runtime's nodes:   0 CONV_2D   1 ADD   2 TOPK_V2 ...   n DELEGATE (inputs 0 3 4, outputs 7)
    operators that make 7, and what they need that is not 0, 3 or 4, are the ones that node n stands for

After delegates are applied the runtime lists its operators as before and, behind them, a DELEGATE node for
each partition, with all that goes in (constants too) and all that comes out (tflite/graph_info.cc).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlive.accelerators.nouns import Crossing
from outlive.model import Operator, Subgraph
from outlive.units import tensor_bytes

DELEGATE = "DELEGATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Operators that run as one node of a delegate; all that goes in and comes out, by tensor."""

    operators: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def partitions_of(
    subgraph: Subgraph, nodes: Sequence[Sequence[Any]], expected: Collection[int] = ()
) -> tuple[Partition, ...]:
    """The partitions that the runtime made of this subgraph; `nodes` are its own (`Interpreter.nodes`).

    `expected` are the operators that a delegate should take as far as is known: they settle the rare
    operator that nothing depends on, and that the borders of the partitions leave open.
    """
    count = len(subgraph.operators)
    borders = [(given, made) for kind, given, made in nodes[count:] if kind == DELEGATE]
    taken: set[int] = set()
    found = []
    for given, made in borders:
        inputs, outputs = _indices(given), _indices(made)
        members = _inside(subgraph, inputs, outputs, taken, expected)
        taken |= members
        found.append(
            Partition(
                operators=tuple(sorted(members)), inputs=tuple(sorted(inputs)), outputs=tuple(sorted(outputs))
            )
        )
    return tuple(found)


def crossings_of(subgraph: Subgraph, partitions: Sequence[Partition]) -> tuple[Crossing, ...]:
    """The tensors that are handed over between partitions and everything else at each run."""
    found: dict[tuple[int, bool], Crossing] = {}
    sides = [(True, index) for partition in partitions for index in partition.inputs]
    sides += [(False, index) for partition in partitions for index in partition.outputs]
    for into, index in sides:
        tensor = subgraph.tensors[index] if index < len(subgraph.tensors) else None
        if tensor is not None and not tensor.is_constant:
            size = tensor_bytes(tensor.shape, tensor.dtype) or 0
            found[index, into] = Crossing(tensor=index, name=tensor.name, bytes=size, into=into)
    return tuple(found.values())


def _indices(value: Any) -> set[int]:
    return {int(index) for index in value if int(index) >= 0}


def _inside(
    subgraph: Subgraph, inputs: set[int], outputs: set[int], others: set[int], expected: Collection[int]
) -> set[int]:
    """The operators between these borders; `others` belong to other partitions already."""
    members: set[int] = set()
    producers = subgraph.producers()
    wanted = [tensor for tensor in outputs if tensor in producers]
    while wanted:
        operator = subgraph.operators[producers[wanted.pop()]]
        if operator.index in members or operator.index in others:
            continue
        members.add(operator.index)
        wanted += [tensor for tensor in operator.inputs if tensor not in inputs and tensor in producers]
    return _with_hidden(subgraph, members, inputs, outputs, others, expected)


def _with_hidden(
    subgraph: Subgraph,
    members: set[int],
    inputs: set[int],
    outputs: set[int],
    others: set[int],
    expected: Collection[int],
) -> set[int]:
    """The members, and operators that belong to them though nothing outside needs what they make.

    ASSIGN_VARIABLE makes nothing; a dead operator makes what nobody reads; so is what feeds only such.
    """
    hidden = _hidden(subgraph, members, inputs, outputs, others)
    producers = subgraph.producers()
    inside = set(members)
    growing = True
    while growing:
        growing = False
        for index in sorted(hidden - inside):
            if _belongs(subgraph.operators[index], producers, outputs, inside, index in expected):
                inside.add(index)
                growing = True
    return inside


def _hidden(
    subgraph: Subgraph, members: set[int], inputs: set[int], outputs: set[int], others: set[int]
) -> set[int]:
    """All operators that could be inside without anybody outside noticing."""
    producers, consumers = subgraph.producers(), subgraph.consumers()
    hidden = {operator.index for operator in subgraph.operators} - members - others
    shrinking = True
    while shrinking:
        shrinking = False
        for index in sorted(hidden):
            operator = subgraph.operators[index]
            inner = members | hidden
            readers = {reader for tensor in operator.outputs for reader in consumers.get(tensor, ())}
            seen = not readers <= inner or outputs.intersection(operator.outputs)
            fed = all(t in inputs or producers.get(t) in inner for t in operator.inputs if t >= 0)
            ends = set(subgraph.output_indices).intersection(operator.outputs)
            if seen or ends or not fed:
                hidden.discard(index)
                shrinking = True
    return hidden


def _belongs(
    operator: Operator,
    producers: Mapping[int, int],
    outputs: set[int],
    inside: set[int],
    is_expected: bool,
) -> bool:
    """Whether a hidden operator is inside: it reads what never leaves the partition, or is expected to be."""
    reads = any(producers.get(tensor) in inside and tensor not in outputs for tensor in operator.inputs)
    return reads or is_expected
