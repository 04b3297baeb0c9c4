"""Which operators a delegate took, from the nodes that the runtime put in their place.

    the runtime's nodes:   0 CONV_2D   1 ADD   2 TOPK_V2 ...   n DELEGATE (inputs 0 3 4, outputs 7)
    operators that make 7, and what they need that is not 0, 3 or 4, are the ones that node n stands for

After delegates are applied the runtime lists its operators as before and, behind them, a DELEGATE node for
each partition, with all that goes in (constants too) and all that comes out (tflite/graph_info.cc). Why
XNNPACK left the others is known from its rules, which the planner replays (`arena.xnnpack`); a library of the
user's does not say why. The NPU's plugin says only how many operators it took.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from outlive.accelerators.configurations import AcceleratorConfig
from outlive.accelerators.coverage import Accelerator, Crossing, OpRefusal, TakenOps, WhatIf
from outlive.accelerators.trial import Trial
from outlive.arena.xnnpack.partition import expected_of_xnnpack, partition
from outlive.model import Model, Operator, Subgraph
from outlive.units import tensor_bytes

DELEGATE = "DELEGATE"
# Why the GPU leaves an operator that is outside the one partition it takes.
ELSEWHERE = "it could take this one, but takes only the largest partition of a graph"


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


_UNKNOWN = "not taken; why is not known"
_RULES = "XNNPACK's own rules"
_NODES = "the runtime's nodes"


def see_plain(model: Model, seen: Trial) -> TakenOps:
    """Kernels without a delegate run everything, or the model does not run at all."""
    total = len(model.subgraphs[0].operators)
    if not seen.compiles:
        return TakenOps()
    return TakenOps(count=total, operators=tuple(range(total)), partitions=0)


def see_xnnpack(model: Model, seen: Trial) -> TakenOps:
    """What XNNPACK took, and why it left the rest."""
    if not seen.compiles:
        return TakenOps()
    expected = expected_of_xnnpack(model)
    reasons = dict(expected.refused) if expected is not None else {}
    return _see(model, seen, frozenset(expected.taken) if expected is not None else frozenset(), reasons)


def see_nodes(model: Model, seen: Trial) -> TakenOps:
    """What a delegate took that gives no reasons."""
    return _see(model, seen, frozenset(), {}) if seen.compiles else TakenOps()


def _see(model: Model, seen: Trial, expected: frozenset[int], reasons: dict[int, str]) -> TakenOps:
    subgraph = model.subgraphs[0]
    partitions = partitions_of(subgraph, seen.nodes, expected)
    taken = {op for partition in partitions for op in partition.operators}
    refused = tuple(
        OpRefusal(
            op=operator.index,
            type=operator.name,
            reason=reasons.get(operator.index, _UNKNOWN),
            source=_RULES if operator.index in reasons else _NODES,
        )
        for operator in subgraph.operators
        if operator.index not in taken
    )
    return TakenOps(
        count=len(taken),
        operators=tuple(sorted(taken)),
        partitions=len(partitions),
        refused=refused,
        crossings=crossings_of(subgraph, partitions),
    )


# litert/compiler/plugin/compiler_plugin.cc of LiteRT: a line for each subgraph, those called first.
_PARTITIONED = re.compile(
    r"Partitioned subgraph<0>, selected (?P<taken>\d+) ops, from a total of (?P<all>\d+) ops\. "
    r"resulted in (?P<partitions>\d+) partitions"
)
_NOT_LOADED = re.compile(r"Could not load shared library [^\n]*OpenVINO[^\n]*", re.IGNORECASE)
_FEW = "it took {count} of {total} operators, and does not say which"


def see_npu(model: Model, seen: Trial, way: AcceleratorConfig) -> TakenOps:
    """How many operators the plugin took of the main subgraph, as far as it says so, and where they run."""
    options = way.compiled.options if way.compiled is not None else {}
    if options.get("intel_openvino_options", {}).get("graph_backend") == "CPU":
        return replace(_count(model, seen), device="OpenVINO's CPU backend", is_software=True)
    return _count(model, seen)


def _count(model: Model, seen: Trial) -> TakenOps:
    total = len(model.subgraphs[0].operators)
    if _NOT_LOADED.search(seen.words):
        return TakenOps(absent="the OpenVINO library that the plugin wants was not found")
    row = _PARTITIONED.search(seen.words)
    if row is None or int(row["all"]) != total:  # composites are taken apart before they are counted
        return TakenOps(notes=("it does not say which operators it took",) if seen.compiles else ())
    count, partitions = int(row["taken"]), int(row["partitions"])
    if count == total:
        return TakenOps(count=count, operators=tuple(range(total)), partitions=partitions)
    nothing = () if count == 0 else None
    return TakenOps(
        count=count,
        operators=nothing,
        partitions=partitions,
        notes=(_FEW.format(count=count, total=total),) if count else (),
    )


# Groups of refused operators that are looked at: the largest, and no more of them than a person reads.
_MOST_GROUPS = 6
# A graph beyond this is partitioned for real or not at all.
_MOST_OPERATORS = 20_000


def what_ifs(model: Model, one: Accelerator) -> tuple[WhatIf, ...]:
    """For each kind of refused operator: how much would be taken, in how many partitions, without it."""
    subgraph = model.subgraphs[0]
    known = [refusal.op for refusal in one.refused if refusal.op is not None]
    if one.taken is None or len(known) != len(one.refused) or len(subgraph.operators) > _MOST_OPERATORS:
        return ()
    groups: dict[tuple[str, str], list[int]] = {}
    for refusal, index in zip(one.refused, known, strict=True):
        if refusal.reason != ELSEWHERE:
            groups.setdefault((refusal.type, refusal.reason), []).append(index)
    able = {operator.index for operator in subgraph.operators}
    able -= {index for indices in groups.values() for index in indices}
    takes_one = one.name.startswith("gpu")
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))[:_MOST_GROUPS]
    return tuple(
        _what_if(subgraph, kind, reason, able.union(indices), takes_one)
        for (kind, reason), indices in largest
    )


def _what_if(subgraph: Subgraph, kind: str, reason: str, wanted: Iterable[int], takes_one: bool) -> WhatIf:
    sizes = [len(run.operators) for run in partition(subgraph, frozenset(wanted)) if run.delegated]
    if takes_one:  # the GPU takes the largest partition only
        sizes = sorted(sizes)[-1:]
    return WhatIf(type=kind, reason=reason, ops_taken=sum(sizes), partitions=len(sizes))
